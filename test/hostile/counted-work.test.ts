import { type Broker, createKernel, type JsonValue, parseJson, type PolicyRule, snapshot } from "@keyhole/kernel";
import { kvRead } from "@keyhole/kernel/families";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { jsonExcess } from "../../packages/kernel/src/json/json-excess.ts";
import * as limits from "../../packages/kernel/src/limits.ts";
import { decisionBy, inputOf, loaded } from "../policy/support.ts";
import { granting, openKernel, openPolicy, toolOf } from "../support/kernel.ts";

// What a stranger makes large is counted before it is worked on: these tests count looks and parses, and no time.

afterEach(() => vi.restoreAllMocks());

const members = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));

/** Counts every look at its members. */
function watched(target: object) {
  let looks = 0;
  const value = new Proxy(target, {
    getOwnPropertyDescriptor: (own, key) => (looks++, Reflect.getOwnPropertyDescriptor(own, key)),
  });
  return { value, looks: () => looks };
}

describe("an object with as many members as it may have, and one more", () => {
  it.each([1, 7, 1_000])("is taken up to %i members, and looked at no further", (most) => {
    expect(snapshot(members(most), { maxMembers: most }).ok).toBe(true);
    const { value, looks } = watched(members(most + 1));
    expect(snapshot(value, { maxMembers: most })).toMatchObject({ ok: false, error: { reason: "too-large" } });
    expect(looks()).toBe(0);
  });

  it("counts the members of all objects together", () =>
    fc.assert(
      fc.property(fc.array(fc.nat(6), { minLength: 1, maxLength: 8 }), (sizes) => {
        const value = sizes.map(members);
        const total = sizes.reduce((sum, size) => sum + size, 0);
        for (const take of [snapshot, (own: unknown, most: object) => parseJson(JSON.stringify(own), most)]) {
          expect(take(value, { maxMembers: total }).ok).toBe(true);
          if (total > 0) expect(take(value, { maxMembers: total - 1 }).ok).toBe(false);
        }
      }),
      { numRuns: 100 },
    ));
});

describe("a JSON text", () => {
  const most = { maxDepth: 4, maxNodes: 20, maxMembers: 6 };

  it("that holds too much for its signs alone is not parsed", () => {
    const parse = vi.spyOn(JSON, "parse");
    const texts = [
      `[${"1,".repeat(20)}1]`,
      `{${'"a":1,'.repeat(6)}"b":1}`,
      `${"[".repeat(5)}${" ".repeat(40)}${"]".repeat(5)}`,
    ];
    for (const text of texts) expect(parseJson(text, most).ok).toBe(false);
    expect(parse).not.toHaveBeenCalled();
  });

  it("is refused for no sign in a string, and for nothing that it may hold", () =>
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        const count = { values: 0, members: 0, depth: 0 };
        const walk = (each: unknown, depth: number): void => {
          count.values++;
          if (typeof each !== "object" || each === null) return;
          count.depth = Math.max(count.depth, depth);
          if (!Array.isArray(each)) count.members += Object.keys(each).length;
          for (const inner of Object.values(each)) walk(inner, depth + 1);
        };
        walk(value, 1);
        const exact = { maxDepth: count.depth, maxNodes: count.values, maxMembers: count.members };
        expect(jsonExcess(text, exact)).toBeUndefined();
      }),
      { numRuns: 200 },
    ));
});

describe("the output of a tool", () => {
  it("with as many members as it may have is taken, and one more is refused with a code", async () => {
    const { kernel } = await openKernel();
    let count = limits.members;
    // Two in each: so many objects with one would be too many values.
    const make = () =>
      Array.from({ length: Math.floor(count / 2) }, (_, at) => (at === 0 ? members(2 + (count % 2)) : members(2)));
    kernel.registerTrusted(toolOf(make, { output: { kind: "json" }, bounds: { outputBytes: 25_000_000 } }));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    count++;
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "NOT_NORMALIZABLE" } });
  });
});

describe("an input", () => {
  it("with one member too many is refused before any is looked at", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1));
    const { value, looks } = watched(members(limits.members + 1));
    expect(await kernel.call("subject", value)).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(looks()).toBe(0);
  });
});

describe("what a broker answers", () => {
  it.each([
    ["values", () => Array.from({ length: limits.nodes }, () => 0)],
    ["members", () => members(limits.members + 1)],
  ])("with too many %s is a refusal with a code", async (_, make) => {
    const broker: Broker = {
      families: [kvRead],
      needs: () => ({ ok: true, needs: [{ kind: "kv.read", key: "a" }] }),
      serve: async () => ({ ok: true, value: make() as never }),
    };
    const capability = { kind: "kv.read", keys: ["*"] } as const;
    const { kernel } = await openKernel({ policy: granting(capability), brokers: [broker] });
    const execute = (_input: never, { kv }: { kv: { get: (key: string) => Promise<unknown> } }) => kv.get("a");
    const more = { capabilities: [capability], effects: ["kv.read"], determinism: "external" };
    kernel.registerTrusted(toolOf(execute, more));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
  });
});

/** Every list and map of a manifest that is no schema. The first two alone have as many values as all may have. */
const { values, characters } = limits.declaration;
const texts = (count: number, length = 1): string[] =>
  Array.from({ length: count }, (_, at) => `${at}`.padEnd(length, "x"));
const net = (paths: readonly string[]) => ({ kind: "net.read", hosts: ["*"], paths: paths.map((each) => `/${each}`) });
const large: Readonly<Record<string, object>> = {
  "members that nobody knows": members(values),
  "effects that nobody knows": { effects: texts(values) },
  modes: { modes: texts(values) },
  "arguments of a module": { wasm: { args: texts(values) } },
  "its environment": { wasm: { environment: members(values) } },
  "arguments of a program": { process: { command: "x", args: texts(values) } },
  "prefixes in many capabilities": {
    capabilities: Array.from({ length: 6 }, (_, c) => net(texts(1_000).map((each) => `${c}/${each}`))),
  },
  "long prefixes": { capabilities: [net(texts(70, 1_000))] },
  "texts of one capability": { capabilities: [{ kind: "fs.read", paths: texts(100, 1_000) }] },
  "a description": { description: "x".repeat(characters) },
  bounds: { bounds: members(values) },
  "an output contract": { output: { kind: "json", ...members(values) } },
};

describe("a manifest", () => {
  it.each(Object.entries(large))("is refused before anything is compared with it: %s", async (_, more) => {
    const { kernel } = await openKernel();
    const test = vi.spyOn(RegExp.prototype, "test");
    const refused = kernel.registerTrusted(
      toolOf(() => 1, { effects: ["net.read", "fs.read"], determinism: "external", ...more }),
    );
    const tests = test.mock.calls.length;
    expect(refused).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST" } });
    expect(JSON.stringify(refused)).toMatch(/in total/);
    expect(tests).toBeLessThan(100);
  });

  it("has its largest size in values and in characters", async () => {
    const { kernel } = await openKernel();
    const most = 4_900;
    const capabilities = Array.from({ length: 5 }, (_, c) => net(texts(most / 5 - 10).map((each) => `${c}/${each}`)));
    const more = { effects: ["net.read"], determinism: "external", capabilities };
    expect(kernel.registerTrusted(toolOf(() => 1, more))).toMatchObject({ ok: true });
  });
});

describe("the grants of a call", () => {
  it.each([
    ["too many values", { kind: "kv.read", keys: texts(values) }],
    ["too many characters", { kind: "kv.read", keys: texts(70, 1_000) }],
  ])("with %s are refused", async (_, grant) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1));
    const result = await kernel.call("subject", {}, { grants: [grant as never] });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT", message: expect.stringMatching(/at most 5000 values/) },
    });
  });
});

describe("a policy", () => {
  const { values: most } = limits.policyPatterns;
  const many = (count: number) =>
    Array.from({ length: Math.ceil(count / 900) }, (_, r) => texts(900).map((each) => `t${r}_${each}`));

  it.each([
    ["grants", { grants: many(most).map((keys) => ({ tool: "*", capability: { kind: "kv.read", keys } })) }],
    [
      "conditions",
      { rules: many(most).map((key, at) => ({ id: `r${at}`, effect: "deny", when: { key }, reason: "No." })) },
    ],
  ])("with too many values in its %s is refused", async (_, more) => {
    await expect(createKernel({ policy: { ...openPolicy, ...more } })).rejects.toMatchObject({
      message: expect.stringMatching(/at most 250000 values in total/),
    });
  });
});

describe("the texts of an input that rules look at", () => {
  const rules = (count: number, effect: PolicyRule["effect"] = "deny"): PolicyRule[] =>
    Array.from({ length: count }, (_, at) => ({
      id: `r${at}`,
      effect,
      when: { arguments: [{ at: "/t", contains: `needle${at}` }] },
      reason: "No.",
    }));
  const decided = (list: readonly PolicyRule[], t: JsonValue) =>
    decisionBy(loaded({ rules: list }), inputOf({ tier: 2, input: { t } }));
  /** Units that come out of normalization. */
  const units = (): (() => number) => {
    const normalize = vi.spyOn(String.prototype, "normalize");
    return () => normalize.mock.results.reduce((sum, { value }) => sum + (value as string).length, 0);
  };

  it("are folded once, however many rules and items there are", () => {
    const items = Array.from({ length: 500 }, (_, at) => `é${at}`);
    const work = (count: number): number => {
      const policy = loaded({ rules: rules(count) });
      const worked = units();
      decisionBy(policy, inputOf({ tier: 2, input: { t: items } }));
      const done = worked();
      vi.restoreAllMocks();
      return done;
    };
    expect(work(100)).toBe(work(1));
    expect(decided(rules(100), [...items, "ÉNEEDLE7", "ＮＥＥＤＬＥ7"])).toMatchObject({ decision: "deny" });
  });

  it.each([
    ["startsWith", (at: number) => ({ startsWith: `https://host-${at}.example/` })],
    ["endsWith", (at: number) => ({ endsWith: `/${at}` })],
    ["hostIn", (at: number) => ({ hostIn: [`host-${at}.example`] })],
    ["hostNotIn", (at: number) => ({ hostNotIn: [`host-${at}.example`, "e.example"] })],
  ] as const)("are searched once for readings by %s, however many rules there are", (_, operator) => {
    const text = `https://e.example/${"a".repeat(10_000)}`;
    for (const effect of ["deny", "allow"] as const) {
      const work = (count: number): number => {
        const list = rules(count, effect).map((rule, at) => ({
          ...rule,
          when: { arguments: [{ at: "/t", ...operator(at) }] },
        }));
        const policy = loaded({ rules: list });
        const tests = vi.spyOn(RegExp.prototype, "test");
        decisionBy(policy, inputOf({ tier: 2, input: { t: text } }));
        const looked = tests.mock.calls.filter(([each]) => each.length >= 10_000).length;
        vi.restoreAllMocks();
        return looked;
      };
      expect(work(50)).toBe(work(1));
    }
  });

  it.each<[string, JsonValue]>([
    ["one text", "\ufdfa".repeat(300_000)],
    ["many items", Array.from({ length: 3_000 }, (_, at) => `${at}${"\ufdfa".repeat(100)}`)],
  ])("that stand for too many others are folded to a bound in %s: a deny meets, an allow does not", (_, t) => {
    const worked = units();
    const denied = decided(rules(3), t);
    expect(worked()).toBeLessThan(4 * limits.foldedUnits);
    vi.restoreAllMocks();
    expect(denied).toMatchObject({
      decision: "deny",
      reasonCode: "rule-error",
      errors: [{ code: "TOO_MUCH_TEXT" }, {}, {}],
    });
    // A rule about a text does not read an array.
    const code = typeof t === "string" ? "TOO_MUCH_TEXT" : "NOT_PLAIN";
    const equal = { id: "e", effect: "deny", when: { arguments: [{ at: "/t", equals: "x" }] }, reason: "No." } as const;
    expect(decided([equal], t)).toMatchObject({ decision: "deny", errors: [{ code }] });
    const unless = {
      id: "d",
      effect: "allow",
      when: { arguments: [{ at: "/t", differs: "x" }] },
      reason: "Yes.",
    } as const;
    expect(decided([unless], t)).toMatchObject({ decision: "ask", errors: [{ code }] });
    expect(decided(rules(1, "allow"), t)).toMatchObject({ decision: "ask" });
  });

  it("are no large numbers with a fraction: readers round them", () => {
    const list = rules(1).map((rule) => ({
      ...rule,
      when: { arguments: [{ at: "/t", contains: "12345678901234567890" }] },
    }));
    expect(decided(list, ["12345678901234567890.1"])).toMatchObject({
      decision: "deny",
      errors: [{ code: "NOT_PLAIN" }],
    });
    expect(decided(list, ["12345678901234567891"])).toMatchObject({ decision: "ask", errors: [] });
  });

  it("of the largest input are folded whole, where they stand for themselves", () => {
    const text = "é".repeat(limits.inputBytes / 2);
    expect(decided(rules(2), text)).toMatchObject({ decision: "ask", errors: [] });
    expect(decided(rules(2), `${text.slice(8)}NEEDLE1`)).toMatchObject({ decision: "deny", errors: [] });
  });
});

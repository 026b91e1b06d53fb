import { compileSchema } from "../../packages/kernel/src/schema/compile-schema.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { explain } from "../../packages/kernel/src/schema/explain/index.ts";
import type { Context, Place } from "../../packages/kernel/src/schema/context.ts";
import type { Explain, ValidationError } from "../../packages/kernel/src/schema/types.ts";
import { openKernel, toolOf } from "../support/kernel.ts";

afterEach(() => vi.restoreAllMocks());

/** A member of the context, whose methods have private state. */
function bound(context: Context, name: string | symbol): unknown {
  const member: unknown = Reflect.get(context, name);
  return typeof member === "function" ? (member.bind(context) as unknown) : member;
}

/** Explains, and counts the subschemas that it looks at. */
function counting(): { readonly explain: Explain; readonly looked: () => number } {
  let looked = 0;
  return {
    looked: () => looked,
    explain(place: Place, value: unknown, context: Context, errors: ValidationError[]): void {
      const locate: Context["locate"] = (from) => {
        looked++;
        return context.locate(from);
      };
      const counted = new Proxy(context, { get: (target, name) => (name === "locate" ? locate : bound(target, name)) });
      explain(place as never, value, counted as never, errors);
    },
  };
}

function refused(schema: object, value: unknown): { readonly looked: number; readonly messages: readonly string[] } {
  const { explain: counted, looked } = counting();
  const compiled = compileSchema(schema, { explain: counted });
  if (!compiled.ok) throw new Error(compiled.error.message);
  const result = compiled.validator.validate(value);
  if (result.ok) throw new Error("it conforms");
  return { looked: looked(), messages: result.errors.map(({ message }) => message) };
}

const named = (count: number, member: (at: number) => unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, member(at)]));

describe("an explanation of a large value", () => {
  const texts = { type: "object", additionalProperties: { type: "string" } };

  it("looks at the first thousand members", () => {
    const last = (count: number): object => named(count, (at) => (at === count - 1 ? 1 : ""));
    expect(refused(texts, last(1_000)).messages).toEqual([expect.stringContaining("/n999: expected a string")]);
    expect(refused(texts, last(1_001)).messages).toEqual([expect.stringContaining("does not conform")]);
    const list = { type: "array", items: { type: "string" } };
    expect(refused(list, [...Array<string>(999).fill(""), 1]).messages).toEqual([
      expect.stringContaining("/999: expected a string"),
    ]);
    expect(refused(list, [...Array<string>(1_000).fill(""), 1]).messages).toEqual([
      expect.stringContaining("does not conform"),
    ]);
  });

  it("costs no more for a hundred thousand distinct names", () => {
    const strict = { type: "object", properties: {}, additionalProperties: false };
    const { looked, messages } = refused(
      strict,
      named(100_000, () => 1),
    );
    expect([looked <= 4_000, messages.length]).toEqual([true, 32]);
    expect(
      refused(
        texts,
        named(100_000, () => 1),
      ).looked,
    ).toBeLessThanOrEqual(4_000);
  });

  it("has an end where large values nest", () => {
    const nested = { type: "object", additionalProperties: texts };
    const value = named(499, (at) => named(499, (inner) => (at + inner === 996 ? 1 : "")));
    const { looked, messages } = refused(nested, value);
    expect([looked <= 40_000, messages]).toEqual([true, [expect.stringContaining("limit")]]);
  });

  it("shows no value of a secret, whichever member has it", () => {
    const secret = { type: "object", additionalProperties: { type: "string", writeOnly: true } };
    const { messages } = refused(
      secret,
      named(1_001, () => ({ pin: "4711" })),
    );
    expect(messages).toEqual([expect.stringContaining("999 more places have the same error.")]);
    expect(messages.filter((text) => text.includes("4711"))).toEqual([]);
  });
});

const letters = (count: number): string => {
  let seed = 12_345;
  return Array.from({ length: count }, () =>
    ((seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) >> 16) & 1 ? "a" : "b",
  ).join("");
};

describe("the work for one call", () => {
  const wide = { type: "object", properties: { a: { pattern: "(a|b)*a(a|b){900}c" } } };
  const items = {
    type: "object",
    properties: {
      a: {
        anyOf: Array.from({ length: 200 }, (_, at) => ({ contains: { const: at + 5 }, minContains: 0 })),
        unevaluatedItems: false,
      },
    },
  };

  it("has one bound for the states of a pattern", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1, { input: wide }));
    const input = { a: letters(5_000) };
    let nodes = 0;
    // What is known of a state is kept by the text of its nodes.
    const { fromCharCode } = String;
    vi.spyOn(String, "fromCharCode").mockImplementation((...units) => {
      nodes += units.length;
      return fromCharCode(...units);
    });
    const refused = await kernel.call("subject", input);
    vi.restoreAllMocks();
    expect(refused).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT", message: expect.stringContaining("limit") },
    });
    expect(nodes).toBeGreaterThan(1_000);
    expect(nodes).toBeLessThan(1_000_000);
  });

  it("has one bound for what branches evaluate", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1, { input: items }));
    // Of every place that it looks at the pointer is made.
    const includes = vi.spyOn(String.prototype, "includes");
    const refused = await kernel.call("subject", { a: [...Array<number>(4_000).fill(5), 1] });
    const looked = includes.mock.calls.filter(([part]) => part === "~").length;
    vi.restoreAllMocks();
    expect(refused).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT", message: expect.stringContaining("limit") },
    });
    expect(looked).toBeGreaterThan(1_000);
    expect(looked).toBeLessThan(1_000_000);
  });

  it("leaves nothing for an explanation where the check has used it up", () => {
    let explained = 0;
    const branches = Array.from({ length: 30 }, () => ({ items: { items: { type: "null" } } }));
    const compiled = compileSchema({ anyOf: branches }, { limits: { steps: 500 }, explain: () => explained++ });
    const value = [Array<number>(100).fill(1), Array<number>(100).fill(1)];
    expect(compiled.ok && compiled.validator.validate(value)).toMatchObject({
      ok: false,
      errors: [{ keyword: "limit" }],
    });
    expect(explained).toBe(0);
  });

  it("is shared by the defaults, the check and the explanation", () => {
    const schema = {
      items: { properties: { a: { default: 1 } } },
      allOf: [{ items: { type: "object" } }, { maxItems: 50 }],
    };
    const least = (run: (steps: number) => boolean): number => {
      let steps = 1;
      while (!run(steps)) steps++;
      return steps;
    };
    const taken = (value: unknown, withDefaults: boolean): number =>
      least((steps) => {
        const defaults = withDefaults ? "fill" : "ignore";
        const compiled = compileSchema(schema, { limits: { steps }, defaults } as never);
        return compiled.ok && compiled.validator.validate(value).ok;
      });
    const value = Array.from({ length: 5 }, () => ({}));
    const filled = Array.from({ length: 5 }, () => ({ a: 1 }));
    expect(taken(value, true)).toBeGreaterThan(taken(filled, false) + 5 * 12);
  });
});

describe("a step is paid for", () => {
  const twice = (schema: object): object => ({ allOf: [schema, schema] });
  const many = <Each>(count: number, make: (at: number) => Each): Each[] =>
    Array.from({ length: count }, (_, at) => make(at));

  it.each<[string, object, unknown]>([
    ["each item, in lists within lists", { items: twice({ items: { not: { const: 1 } } }) }, [many(2_000, () => 0)]],
    [
      "each item of a tuple",
      { items: { prefixItems: many(50, () => ({ not: { const: 1 } })) } },
      many(50, () => many(50, () => 0)),
    ],
    ["each item that is looked for", { items: { contains: { const: 1 } } }, many(20, () => [...many(99, () => 0), 1])],
    [
      "each small object",
      { items: { properties: { a: { not: { const: 1 } } }, required: ["a"] } },
      many(1_000, () => ({ a: 2 })),
    ],
    [
      "each name that is required",
      { items: { additionalProperties: { type: "integer" }, required: many(16, (at) => `k${at}`) } },
      many(100, () => Object.fromEntries(many(16, (at) => [`k${at}`, 1]))),
    ],
    [
      "each dependent name",
      { items: { dependentRequired: Object.fromEntries(many(50, (at) => [`k${at}`, ["z"]])) } },
      many(50, () => ({ a: 1 })),
    ],
    ["each value of an enum", { items: { not: { enum: many(50, (at) => [at]) } } }, many(50, () => [-1])],
    ["each nested value that must be unique", { items: { uniqueItems: true } }, [many(900, (at) => [at])]],
    ["a division of large numbers", { items: { multipleOf: 1e-300 } }, many(50, () => 1e300)],
    ["the text of a format", { items: { format: "uri" } }, [`a:${"b".repeat(10_000)}`]],
    ["the characters of a text", { items: { maxLength: 50_000 } }, ["\u{1f600}".repeat(50_000)]],
    [
      "a default that is filled in",
      { items: { properties: { a: { default: "x".repeat(5_000) } } } },
      many(10, () => ({})),
    ],
    [
      "the properties that could be filled in",
      { items: { properties: Object.fromEntries(many(100, (at) => [`k${at}`, { default: 1 }])) } },
      many(10, () => ({})),
    ],
  ])("%s", (_, schema, value) => {
    const judged = (steps: number) => {
      const compiled = compileSchema(schema, { limits: { steps } });
      if (!compiled.ok) throw new Error(compiled.error.message);
      return compiled.validator.validate(value);
    };
    expect(judged(1_000_000)).toMatchObject({ ok: true });
    expect(judged(800)).toMatchObject({ ok: false, errors: [{ keyword: "limit" }] });
  });
});

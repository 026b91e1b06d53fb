import {
  type CapabilityKind,
  type CallResult,
  createKernel,
  defineTool,
  type Kernel,
  type PolicyDocument,
  type Tier,
  type Tool,
} from "@keyhole/kernel";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { kvBroker, memoryKv } from "@keyhole/worker-host/brokers/kv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { documentOf, leastPolicy } from "../../packages/keyhole/src/command/policy/suggest/least-policy.ts";
import { recordedCalls } from "../../packages/keyhole/src/command/policy/suggest/recorded-calls.ts";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { memoryStore } from "../../packages/worker-host/src/brokers/memory-store.ts";
import { ioOf } from "../support/command-files.ts";
import { sized } from "../support/size.ts";

const kinds = ["fs.read", "fs.write", "kv.read", "kv.write"] as const satisfies readonly CapabilityKind[];
type Kind = (typeof kinds)[number];
/** The last ones are literal in no grant. */
const targets = ["a.txt", "b/c.txt", "d {1}.txt", "?"] as const;
const literal: readonly string[] = targets.slice(0, 2);

interface Plan {
  readonly name: string;
  readonly tier: Tier;
  readonly wishes: readonly { readonly kind: Kind; readonly optional: boolean }[];
  /** Whether a rule lifts the posture's question while the log is made. */
  readonly isLifted: boolean;
  readonly calls: readonly { readonly caller: string; readonly requests: readonly (readonly [Kind, string])[] }[];
}

const planOf = (name: string): fc.Arbitrary<Plan> =>
  fc
    .uniqueArray(fc.record({ kind: fc.constantFrom(...kinds), optional: fc.boolean() }), {
      selector: ({ kind }) => kind,
    })
    .chain((wishes) => {
      const request =
        wishes.length === 0
          ? fc.constant([])
          : fc.array(fc.tuple(fc.constantFrom(...wishes.map(({ kind }) => kind)), fc.constantFrom(...targets)), {
              maxLength: 3,
            });
      return fc.record({
        name: fc.constant(name),
        tier: fc.constantFrom<Tier>(0, 1, 2, 3),
        wishes: fc.constant(wishes),
        isLifted: fc.boolean(),
        calls: fc.array(fc.record({ caller: fc.constantFrom("ada", "bob"), requests: request }), { maxLength: 3 }),
      });
    });
const plans = fc.tuple(planOf("one"), planOf("two"));

const input = { type: "object", properties: { requests: { type: "array" } } } as const;

function toolOf({ name, tier, wishes }: Plan): Tool<never, unknown> {
  const capabilities = wishes.map(({ kind, optional }) => ({
    ...(kind === "fs.read" || kind === "fs.write" ? { kind, paths: ["**"] } : { kind, keys: ["*"] }),
    ...(optional && { optional }),
  }));
  return defineTool({
    name,
    version: "1.0.0",
    description: "Under test.",
    tier,
    effects: wishes.map(({ kind }) => kind),
    determinism: "external",
    capabilities,
    input,
    output: { kind: "text" },
    execute: async (given, { files, kv }) => {
      for (const [kind, target] of (given.requests ?? []) as [Kind, string][]) {
        if (kind === "fs.read") await files.read(target);
        else if (kind === "fs.write") await files.write(target, "x");
        else if (kind === "kv.read") await kv.get(target);
        else await kv.put(target, "x");
      }
      return "done";
    },
  });
}

const isLiteral = ({ calls }: Plan): boolean =>
  calls.every(({ requests }) => requests.every(([, target]) => literal.includes(target)));

interface Outcome {
  readonly ok: boolean;
  readonly wasAsked: boolean;
}

/** Makes all calls, one after the other. */
async function outcomesOf(
  drawn: readonly Plan[],
  policy: PolicyDocument,
  look: (kernel: Kernel) => Promise<void> = async () => {},
): Promise<readonly Outcome[]> {
  const store = memoryStore();
  for (const target of targets) await store.write(target, new Uint8Array([1]));
  let questions = 0;
  const kernel = await createKernel({
    policy,
    brokers: [filesBroker(store), kvBroker(memoryKv())],
    approver: async () => (questions++, { answer: "allow", scope: "once", approver: "carol" }),
  });
  for (const plan of drawn) kernel.registerTrusted(toolOf(plan));
  const outcomes: Outcome[] = [];
  for (const { name, calls } of drawn)
    for (const { caller, requests } of calls) {
      const before = questions;
      const { ok }: CallResult = await kernel.call(name, { requests }, { caller });
      outcomes.push({ ok, wasAsked: questions > before });
    }
  await look(kernel);
  await kernel.close();
  return outcomes;
}

const wide = (drawn: readonly Plan[]): PolicyDocument => ({
  version: "1",
  posture: "standard",
  grants: [
    { tool: "*", capability: { kind: "fs.read", paths: ["**"] } },
    { tool: "*", capability: { kind: "fs.write", paths: ["**"] } },
    { tool: "*", capability: { kind: "kv.read", keys: ["*"] } },
    { tool: "*", capability: { kind: "kv.write", keys: ["*"] } },
  ],
  rules: drawn
    .filter(({ isLifted }) => isLifted)
    .map(({ name }) => ({ id: `lift-${name}`, effect: "allow", when: { tool: [name] }, reason: "Lifted." })),
});

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

describe("the least policy of a log", () => {
  const suggestedFor = async (drawn: readonly Plan[]) => {
    let suggested: PolicyDocument | undefined;
    const recorded = await outcomesOf(drawn, wide(drawn), async (kernel) => {
      const calls = await recordedCalls(each(await kernel.audit.read()));
      const manifests = kernel.list().map(({ manifest }) => [manifest.name, manifest] as const);
      suggested = documentOf(leastPolicy(calls, new Map(manifests)));
    });
    expect(recorded.every(({ ok }) => ok)).toBe(true);
    return { suggested: suggested!, recorded };
  };

  it("lets each recorded call pass as it did, and has nothing that can be left out", async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (all) => {
        const drawn = all.map((plan) => (isLiteral(plan) ? plan : { ...plan, calls: [] }));
        const { suggested, recorded } = await suggestedFor(drawn);
        const { grants = [], rules = [] } = suggested;
        expect(await outcomesOf(drawn, suggested)).toEqual(recorded);
        for (const left of grants) {
          const fewer = { ...suggested, grants: grants.filter((grant) => grant !== left) };
          expect(await outcomesOf(drawn, fewer)).not.toEqual(recorded);
        }
        for (const left of rules) {
          const fewer = { ...suggested, rules: rules.filter((rule) => rule !== left) };
          expect(await outcomesOf(drawn, fewer)).not.toEqual(recorded);
        }
      }),
      { numRuns: sized(25, 1_000) },
    );
  });

  it("grants nothing but the targets that are literal", async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (drawn) => {
        const { suggested } = await suggestedFor(drawn);
        for (const { capability } of suggested.grants ?? [])
          for (const target of "paths" in capability ? capability.paths : "keys" in capability ? capability.keys : [])
            expect([...literal, "nothing-was-recorded"]).toContain(target);
      }),
      { numRuns: sized(25, 1_000) },
    );
  });
});

const event = (seq: number, type: string, payload: object) => ({
  seq,
  time: "2026-01-01T00:00:00.000Z",
  type,
  callId: "1",
  payload,
  prev: "",
  hash: "",
});
const suggest = async (events: readonly object[], ...words: readonly string[]) =>
  runCommand(["policy", "suggest", "audit.json", ...words], ioOf({ "audit.json": events }));
const read = (target: string, outcome = "ok") =>
  event(4, "capability.used", { kind: "net.read", operation: "fetch", target, outcome });
const start = [
  event(0, "call.invoked", { tool: "fetcher@1.0.0", caller: "ada" }),
  event(1, "capability.checked", { granted: ["net.read", "clock"], missing: [] }),
  event(2, "policy.decided", { decision: "allow" }),
  event(3, "tool.started", { tool: "fetcher@1.0.0" }),
];

describe("keyhole policy suggest", () => {
  it("grants a request's method, host, port and path, and as many as one call made", async () => {
    const log = [
      ...start,
      read("GET api.example.com:443/a/b"),
      read("GET api.example.com:443/c", "failed"),
      read("GET evil.example:443/", "refused"),
    ];
    const { exitCode, output } = await suggest(log, "--json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(output)).toMatchObject({
      started: 1,
      policy: {
        posture: "standard",
        grants: [
          { tool: "fetcher", caller: "ada", capability: { kind: "clock" } },
          {
            tool: "fetcher",
            caller: "ada",
            capability: {
              kind: "net.read",
              hosts: ["api.example.com"],
              ports: [443],
              methods: ["GET"],
              paths: ["/a/b", "/c"],
              requests: 2,
            },
          },
        ],
      },
      untold: [expect.stringContaining("The tier of fetcher."), expect.stringContaining("Arguments")],
    });
  });

  it.each([
    ["fs.read", "*/*", "*"],
    ["fs.read", "a/**", "**"],
    ["fs.write", "notes{1}.txt", "*"],
    ["fs.read", "", "*"],
    ["kv.read", "*", "*"],
    ["kv.write", "a?b", '"a"'],
    ["db.read", "select *", "*"],
    ["tool.call", "*", "*"],
    ["secret.use", "* for api.example.com", "*"],
    ["secret.use", "key for *.example.com", "*"],
    ["net.read", "GET *.example.com:443/a", "*.example"],
    ["net.read", "GET api.example.com:443/a/[x]", '"/a"'],
    ["process.spawn", "echo", "rest"],
  ])("grants no wildcard for the %s of %j, which a model wrote, and says so", async (kind, target, wide) => {
    const log = [
      start[0]!,
      event(1, "capability.checked", { granted: [kind], missing: [] }),
      ...start.slice(2),
      event(4, "capability.used", { kind, operation: "x", target, outcome: "ok" }),
    ];
    const { exitCode, output } = await suggest(log, "--json");
    expect(exitCode).toBe(0);
    const { policy, untold } = JSON.parse(output) as { policy: PolicyDocument; untold: readonly string[] };
    expect(JSON.stringify(policy.grants ?? [])).not.toContain(wide);
    expect(untold.join("\n")).toContain(JSON.stringify(target));
  });

  it("suggests a policy for callers of any name", async () => {
    const callers = ["ada b", "ada-b", "ada-b-2", "*", "a".repeat(257)].map((caller) => ["t@1.0.0", caller] as const);
    const log = [...callers, ["*@1.0.0", "ada"] as const].flatMap(([tool, caller], at) =>
      [
        event(0, "call.invoked", { tool, caller }),
        event(1, "policy.decided", { decision: "allow", proof: { tier: 1 } }),
        event(2, "tool.started", { tool }),
      ].map((each) => ({ ...each, callId: String(at) })),
    );
    const { output } = await suggest(log, "--json");
    const { policy, untold } = JSON.parse(output) as { policy: PolicyDocument; untold: readonly string[] };
    expect(policy.rules?.map(({ when }) => when.caller)).toEqual([["ada b"], ["ada-b"], ["ada-b-2"]]);
    expect(untold.filter((each) => each.includes("cannot name"))).toHaveLength(3);
  });

  it("writes YAML that keyhole takes as a policy, with what the log could not tell", async () => {
    const { output } = await suggest([...start, read("GET a.example.com:443/a"), read("GET b.example.com:443/")]);
    expect(output).toContain("# 2 requests in 1 call. A path also grants the paths below it.");
    expect(output).toContain("# 2 requests in 1 call. `/` grants every path of the host.");
    expect(output).toMatch(/^# The least policy for 1 call that started\. 0 calls did not start/);
    expect(output).toContain("# The log could not tell:\n# - The tier of fetcher. Name its file with --tools.\n");
    expect(await runCommand(["policy", "check", "policy.yaml"], ioOf({ "policy.yaml": output }))).toMatchObject({
      exitCode: 0,
    });
  });

  it("gives a log without calls a policy without grants, and takes no other file for a log", async () => {
    const { exitCode, output } = await suggest([event(0, "mode.changed", {})]);
    expect([exitCode, output]).toEqual([0, expect.stringContaining("posture: strict\n")]);
    expect(output).not.toContain("grants");
    expect((await runCommand(["policy", "suggest", "x"], ioOf({ x: "{}" }))).exitCode).toBe(2);
  });
});

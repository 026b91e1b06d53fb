import { policy as policyOf } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { denyWhen } from "./support.ts";

describe("a document", () => {
  const rule = (more: object, when: object = {}) => ({ rules: [{ ...denyWhen(when), ...more }] });
  const day = (time: object) => rule({}, { time });
  it.each<[string, object, string]>([
    ["a regular expression", rule({}, { arguments: [{ at: "/a", matches: ".*" }] }), "/rules/0/when/arguments/0"],
    ["two operators", rule({}, { arguments: [{ at: "/a", equals: 1, in: [1] }] }), "/rules/0/when/arguments/0"],
    ["no operator", rule({}, { arguments: [{ at: "/a" }] }), "/rules/0/when/arguments/0"],
    ["a pointer without a slash", rule({}, { arguments: [{ at: "a", equals: 1 }] }), "/rules/0/when/arguments/0/at"],
    ["a bad escape", rule({}, { arguments: [{ at: "/a~2", equals: 1 }] }), "/rules/0/when/arguments/0/at"],
    [
      "a host with a port",
      rule({}, { arguments: [{ at: "/a", hostIn: ["a.com", "b.com:1"] }] }),
      "/rules/0/when/arguments/0/hostIn/1",
    ],
    ["a Unicode host", rule({}, { host: ["bücher.example"] }), "/rules/0/when/host/0"],
    ["a host with a trailing dot", rule({}, { host: ["example.com."] }), "/rules/0/when/host/0"],
    ["a host with credentials", rule({}, { host: ["a@example.com"] }), "/rules/0/when/host/0"],
    ["a path that climbs", rule({}, { path: ["a/../b"] }), "/rules/0/when/path/0"],
    [
      "a path with a backslash",
      rule({}, { arguments: [{ at: "/a", pathIn: ["a\\b"] }] }),
      "/rules/0/when/arguments/0/pathIn/0",
    ],
    ["a path with NUL", rule({}, { path: ["a\0"] }), "/rules/0/when/path/0"],
    ["an allow about requests", rule({ effect: "allow" }, { host: ["example.com"] }), "/rules/0/effect"],
    ["a count of requests", rule({}, { method: ["GET"], count: { windowMs: 1, moreThan: 1 } }), "/rules/0/when/count"],
    ["a count with two limits", rule({}, { count: { windowMs: 1, moreThan: 1, atMost: 1 } }), "/rules/0/when/count"],
    ["a count without limit", rule({}, { count: { windowMs: 1 } }), "/rules/0/when/count"],
    [
      "a window of 32 days",
      rule({}, { count: { windowMs: 2_764_800_000, moreThan: 1 } }),
      "/rules/0/when/count/windowMs",
    ],
    ["no version", rule({}, { version: "latest" }), "/rules/0/when/version"],
    [
      "a window that never is",
      day({ after: "2026-01-02T00:00:00Z", before: "2026-01-01T00:00:00Z" }),
      "/rules/0/when/time/before",
    ],
    ["an empty window", day({ from: "08:00", to: "08:00" }), "/rules/0/when/time/to"],
    ["an empty window from the default", day({ to: "00:00" }), "/rules/0/when/time/to"],
    [
      "a star in a path of the network",
      { grants: [{ tool: "x", capability: { kind: "net.read", hosts: ["example.com"], paths: ["/docs/*"] } }] },
      "/grants/0/capability/paths/0",
    ],
    ["a time of 25:00", day({ from: "25:00" }), "/rules/0/when/time/from"],
    ["the 31st of February", day({ after: "2026-02-31T99:00:00Z" }), "/rules/0/when/time"],
    ...["2026-02-30T00:00:00Z", "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z"].flatMap(
      (instant): [string, object, string][] => [
        [`a rule until ${instant}`, day({ before: instant }), "/rules/0/when/time/before"],
        [`a rule after ${instant}`, day({ after: instant }), "/rules/0/when/time/after"],
        [`an example at ${instant}`, rule({ examples: { match: [{ time: instant }] } }, {}), "/examples/match/0/time"],
      ],
    ),
    ["an unknown label", rule({}, { labels: ["gossip"] }), "/rules/0/when/labels/0"],
    [
      "labels in a circle",
      { labels: { a: { implies: ["b"] }, b: { implies: ["c"] }, c: { implies: ["a"] } } },
      "/labels/a/implies",
    ],
    ["a label that implies itself", { labels: { a: { implies: ["a"] } } }, "/labels/a/implies"],
    ["a label that implies nobody", { labels: { a: { implies: ["b"] } } }, "/labels/a/implies/0"],
    ["a tool named __proto__", JSON.parse('{"tools":{"__proto__":{}}}') as object, "/tools/__proto__"],
    ["a bad glob in tools", { tools: { x: { paths: { allowed: ["a**"] } } } }, "/tools/x/paths/allowed/0"],
    ["an unknown key in tools", { tools: { x: { colour: 1 } } }, "/tools/x"],
    ["a bound above its ceiling", { tools: { x: { bounds: { concurrency: 65 } } } }, "/tools/x/bounds/concurrency"],
    ["an unknown enforcement", { enforcement: "sometimes" }, "/enforcement"],
  ])("with %s is refused at its place", (_, part, path) => {
    const result = policyOf({ version: "1", posture: "standard", ...part });
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_POLICY" } });
    expect(result.ok || result.error.path).toContain(path);
    expect(result.ok || result.error.message.length).toBeGreaterThan(10);
  });

  it("of 10 MB is refused or loaded, never thrown", () => {
    const huge = {
      version: "1",
      posture: "standard",
      rules: Array.from({ length: 20_001 }, (_, i) => ({
        ...denyWhen({ caller: ["x".repeat(250)] }),
        id: `r${i}`,
        reason: "y".repeat(250),
      })),
    };
    expect(JSON.stringify(huge).length).toBeGreaterThan(10_000_000);
    expect(policyOf(huge)).toMatchObject({ ok: false, error: { path: "/rules" } });
    expect(policyOf({ ...huge, rules: huge.rules.slice(1) })).toMatchObject({ ok: true });
  });
});

describe("examples", () => {
  const pay = (examples: object) => ({
    version: "1",
    posture: "standard",
    rules: [
      {
        id: "large",
        effect: "ask",
        reason: "Large.",
        when: { tool: ["pay"], arguments: [{ at: "/amount", moreThan: 100 }] },
        examples,
      },
    ],
  });
  it("that turn out as they say load", () => {
    const match = [{ tool: "pay", arguments: { amount: 101 } }];
    const notMatch = [
      { tool: "pay", arguments: { amount: 100 } },
      { tool: "read", arguments: { amount: 101 } },
    ];
    expect(policyOf(pay({ match, notMatch }))).toMatchObject({ ok: true });
  });

  it.each([
    [{ match: [{ tool: "pay", arguments: { amount: 100 } }] }, "/rules/0/examples/match/0"],
    [{ notMatch: [{}, { tool: "pay", arguments: { amount: 101 } }] }, "/rules/0/examples/notMatch/1"],
    [{ match: [{ tool: "pay", arguments: { amount: "1e9" } }] }, "/rules/0/examples/match/0"],
  ])("that do not refuse the document: %j", (examples, path) => {
    expect(policyOf(pay(examples))).toMatchObject({
      ok: false,
      error: { code: "INVALID_POLICY", path },
    });
  });

  it("cover requests, counts, time and labels", () => {
    const document = {
      version: "1",
      posture: "standard",
      labels: { untrusted: {} },
      rules: [
        {
          ...denyWhen({ host: ["*.bad.com"], method: ["GET"] }),
          id: "a",
          examples: {
            match: [{ host: "x.bad.com" }],
            notMatch: [{ host: "bad.com" }, { host: "x.bad.com", method: "HEAD" }],
          },
        },
        {
          ...denyWhen({ path: ["secret/**"] }),
          id: "b",
          examples: { match: [{ path: "secret/a" }], notMatch: [{ path: "notes" }] },
        },
        {
          ...denyWhen({ count: { windowMs: 1000, moreThan: 2 } }),
          id: "c",
          examples: { match: [{ count: 2 }], notMatch: [{ count: 1 }] },
        },
        {
          ...denyWhen({ labels: ["untrusted"], time: { days: ["thu"] } }),
          id: "d",
          examples: {
            match: [{ labels: ["untrusted"] }],
            notMatch: [{ labels: ["untrusted"], time: "2026-01-02T00:00:00Z" }],
          },
        },
      ],
    };
    expect(policyOf(document)).toMatchObject({ ok: true });
  });
});

describe("variables", () => {
  const document = {
    version: "1",
    posture: "standard",
    grants: [{ tool: "read", capability: { kind: "fs.read", paths: ["${HOME}/notes/**"] } }],
  };
  it("are filled in before anything is checked or hashed", () => {
    const one = policyOf(document, { variables: { HOME: "users/ada" } });
    expect(one.ok && one.value.grants("read", "x").map(({ json }) => json)).toEqual([
      { kind: "fs.read", paths: ["users/ada/notes/**"] },
    ]);
    const two = policyOf(document, { variables: { HOME: "users/eve" } });
    expect(one.ok && two.ok && one.value.hash !== two.value.hash).toBe(true);
  });
  it.each([
    ["unknown", {}],
    ["empty", { HOME: "" }],
    ["a wildcard", { HOME: "users/*" }],
    ["climbing", { HOME: "../.." }],
    ["inherited", Object.create({ HOME: "x" }) as Record<string, string>],
  ])("that are %s refuse the document", (_, variables) => {
    expect(policyOf(document, { variables })).toMatchObject({
      ok: false,
      error: { path: expect.stringContaining("/grants/0/capability") },
    });
  });
  it("are filled in before a kernel takes the document", async () => {
    const { kernel } = await openKernel();
    expect(await kernel.setPolicy(document)).toMatchObject({ ok: false });
    const filled = policyOf(document, { variables: { HOME: "users/ada" } });
    expect(filled.ok && (await kernel.setPolicy(filled.value.document))).toMatchObject({ ok: true });
  });
});

describe("observe", () => {
  const policy = { version: "1", posture: "strict", enforcement: "observe", rules: [denyWhen({})] };
  it("records what would have been decided, and lets the call go on", async () => {
    const { kernel } = await openKernel({ policy });
    kernel.registerTrusted(toolOf(() => 1, { tier: 4 }));
    expect(await kernel.call("subject", {})).toMatchObject({
      ok: true,
      proof: { decision: "deny", enforced: false, reasonCode: "rule", determining: [{ ruleId: "r" }] },
    });
  });
  it.each([
    ["the mode", { mode: "LOCKDOWN" }, {}, "mode"],
    ["the tool's modes", {}, { modes: ["ALERT"] }, "tool-mode"],
    ["the tool's approval", {}, { approval: "always" }, "tool-approval"],
  ] as const)("does not lift %s", async (_, options, more, reasonCode) => {
    const { kernel } = await openKernel({ policy, ...options });
    kernel.registerTrusted(toolOf(() => 1, { tier: 1, ...more }));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false, proof: { enforced: true, reasonCode } });
  });
});

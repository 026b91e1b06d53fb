import { policy as policyOf, verifyProofDigest } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { fakeNet } from "../support/nested.ts";

const tiers = [0, 1, 2, 3, 4] as const;

async function decisionOf(
  policy: unknown,
  more: Record<string, unknown> = {},
  options: { caller?: string; mode?: "NORMAL" | "ALERT" | "DEGRADED" | "LOCKDOWN" | "RECOVERY" } = {},
) {
  const { kernel } = await openKernel({ policy, ...(options.mode && { mode: options.mode }) });
  kernel.registerTrusted(toolOf(() => 1, more));
  const { proof } = await kernel.call("subject", {}, options.caller === undefined ? {} : { caller: options.caller });
  return proof?.parentProofId === null ? proof.decision : "answered";
}

it("a capability that a tool does not declare is refused, whatever is granted", async () => {
  const grants = [{ tool: "subject", capability: { kind: "net.read", hosts: ["example.com"] } }];
  const { kernel } = await openKernel({
    policy: { version: "1", posture: "standard", grants },
    brokers: [fakeNet()],
  });
  const ask = (_: unknown, { fetch }: { fetch: (url: string) => Promise<Response> }) => fetch("https://example.com/a");
  kernel.registerTrusted(toolOf(ask, { determinism: "external", effects: ["net.read"] }));
  expect(await kernel.call("subject", {})).toMatchObject({
    error: { code: "CAPABILITY_DENIED" },
  });
});

describe("a decision", () => {
  it.each([
    ["strict", ["allow", "ask", "ask", "deny", "deny"]],
    ["standard", ["allow", "allow", "ask", "ask", "deny"]],
    ["permissive", ["allow", "allow", "allow", "ask", "deny"]],
  ])("posture %s answers per tier", async (posture, expected) => {
    const actual = await Promise.all(tiers.map((tier) => decisionOf({ version: "1", posture }, { tier })));
    expect(actual).toEqual(expected);
  });

  it("without a policy is strict, and nobody is there to ask", async () => {
    expect(await decisionOf(undefined, { tier: 0 })).toBe("allow");
    expect(await decisionOf(undefined, { tier: 1 })).toBe("ask");
    expect(await decisionOf(undefined, { tier: 3 })).toBe("deny");
  });

  const rule = (id: string, effect: string, when: object = {}) => ({ id, effect, when, reason: `because of ${id}` });
  const standard = (...rules: object[]) => ({ version: "1", posture: "standard", rules });

  it.each([
    ["deny over ask over allow", [rule("a", "allow"), rule("b", "ask"), rule("c", "deny")], 0, "deny"],
    ["ask over allow", [rule("a", "allow"), rule("b", "ask")], 0, "ask"],
    ["allow lifts the posture's ask", [rule("a", "allow")], 2, "allow"],
    ["allow does not lift the posture's deny", [rule("a", "allow")], 4, "deny"],
    ["ask does not lift the posture's deny", [rule("a", "ask")], 4, "deny"],
    ["a rule for another tool does not matter", [rule("a", "deny", { tool: ["other"] })], 0, "allow"],
    ["a rule by tier", [rule("a", "deny", { tier: [1] })], 1, "deny"],
    ["all conditions must hold", [rule("a", "deny", { tier: [1], tool: ["other"] })], 1, "allow"],
  ])("%s", async (_, rules, tier, expected) => {
    expect(await decisionOf(standard(...rules), { tier })).toBe(expected);
  });

  it("order and duplicates of rules change nothing", async () => {
    const rules = [
      rule("a", "allow", { tier: [2] }),
      rule("b", "deny", { caller: ["eve"] }),
      rule("c", "ask", { mode: ["NORMAL"] }),
    ];
    for (const order of [rules, rules.toReversed(), [...rules, { ...rules[1], id: "d" }]]) {
      expect(await decisionOf(standard(...order), { tier: 2 }, { caller: "eve" })).toBe("deny");
      expect(await decisionOf(standard(...order), { tier: 2 }, { caller: "ada" })).toBe("ask");
    }
  });

  it.each([
    ["ALERT", { tier: 2 }, "ask"],
    ["ALERT", { tier: 1 }, "allow"],
    ["DEGRADED", { tier: 3 }, "deny"],
    ["LOCKDOWN", { tier: 0 }, "allow"],
    ["LOCKDOWN", { tier: 1 }, "deny"],
    ["RECOVERY", { tier: 3 }, "deny"],
  ] as const)("mode %s only tightens: %j", async (mode, more, expected) => {
    expect(await decisionOf({ version: "1", posture: "permissive" }, more, { mode })).toBe(expected);
  });

  it("a tool's own wishes tighten: modes and approval", async () => {
    expect(await decisionOf(standard(), { modes: ["ALERT"] })).toBe("deny");
    expect(await decisionOf(standard(rule("a", "allow")), { approval: "always" })).toBe("ask");
  });

  it("names what determined it, under a hash that notices any change", async () => {
    const { kernel } = await openKernel({ policy: standard(rule("no-eve", "deny", { caller: ["eve"] })) });
    kernel.registerTrusted(toolOf(() => 1));
    const result = await kernel.call("subject", {}, { caller: "eve" });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "POLICY_DENIED", details: { rules: ["no-eve"] } },
    });
    const { proof } = result;
    expect(proof).toMatchObject({
      decision: "deny",
      reasonCode: "rule",
      determining: [{ ruleId: "no-eve" }],
      considered: 1,
      policyHash: kernel.policyHash,
    });
    expect(verifyProofDigest(proof)).toEqual({ ok: true });
    for (const key of Object.keys(proof!)) {
      expect(verifyProofDigest({ ...proof, [key]: "changed" }), key).toMatchObject({ ok: false });
      const { [key as "tier"]: _, ...without } = proof!;
      expect(verifyProofDigest(without), `without ${key}`).toMatchObject({ ok: false });
    }
    expect(verifyProofDigest({ ...proof, extra: 1 })).toMatchObject({ ok: false });
  });

  it.each([null, undefined, 1, "proof", [], {}, { v: 2 }, Object.create({ v: 1 })])("%s is no proof", (foreign) => {
    expect(verifyProofDigest(foreign)).toMatchObject({ ok: false });
  });
});

describe("a policy document", () => {
  const grant = (capability: object) => ({ version: "1", posture: "standard", grants: [{ tool: "x", capability }] });
  it.each([
    ["no object", [], ""],
    ["another version", { version: "2", posture: "standard" }, "/version"],
    ["an unknown posture", { version: "1", posture: "lax" }, "/posture"],
    ["an unknown key", { version: "1", posture: "standard", rule: [] }, ""],
    [
      "an unknown condition",
      {
        version: "1",
        posture: "standard",
        rules: [{ id: "a", effect: "deny", when: { moon: ["full"] }, reason: "x" }],
      },
      "/rules/0/when",
    ],
    [
      "two rules of one id",
      {
        version: "1",
        posture: "standard",
        rules: [1, 2].map(() => ({ id: "a", effect: "deny", when: {}, reason: "x" })),
      },
      "/rules/1/id",
    ],
    [
      "an empty list of conditions",
      { version: "1", posture: "standard", rules: [{ id: "a", effect: "deny", when: { tool: [] }, reason: "x" }] },
      "/rules/0/when/tool",
    ],
    [
      "a host with a scheme",
      grant({ kind: "net.read", hosts: ["https://example.com"] }),
      "/grants/0/capability/hosts/0",
    ],
    ["a path that climbs", grant({ kind: "fs.read", paths: ["../**"] }), "/grants/0/capability/paths/0"],
    [
      "a path prefix without slash",
      grant({ kind: "net.read", hosts: ["example.com"], paths: ["api"] }),
      "/grants/0/capability/paths/0",
    ],
    ["a port of 0", grant({ kind: "net.read", hosts: ["example.com"], ports: [0] }), "/grants/0/capability"],
    ["an own __proto__", JSON.parse('{"version":"1","posture":"standard","__proto__":{}}'), "/__proto__"],
  ])("with %s is refused with its place", (_, document, path) => {
    const loaded = policyOf(document);
    expect(loaded).toMatchObject({ ok: false, error: { code: "INVALID_POLICY" } });
    expect(loaded.ok || loaded.error.path).toContain(path);
  });

  it("hashes the same for the same content", () => {
    const one = policyOf({ version: "1", posture: "standard" });
    const two = policyOf({ posture: "standard", version: "1" });
    expect(one.ok && two.ok && one.value.hash === two.value.hash).toBe(true);
  });

  it("is replaced on record, and a bad one leaves the old one", async () => {
    const { kernel, events } = await openKernel();
    const before = kernel.policyHash;
    expect(await kernel.setPolicy({ version: "1" })).toMatchObject({ ok: false, error: { code: "INVALID_POLICY" } });
    expect(kernel.policyHash).toBe(before);
    expect(await kernel.setPolicy({ version: "1", posture: "strict" })).toMatchObject({ ok: true });
    expect((await events()).at(-1)).toMatchObject({
      type: "policy.changed",
      payload: { previousHash: before, policyHash: kernel.policyHash },
    });
  });
});

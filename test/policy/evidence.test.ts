import type { JsonValue } from "@keyhole/kernel";
import { createProofKey, publicKeyOf, readEvidence, verifyProof } from "@keyhole/kernel/policy";
import { assert, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { document, record } from "./recorded.ts";

describe("readEvidence", () => {
  it("takes a file with everything in it, and every level is checked", async () => {
    const { calls, log, manifest } = await record();
    const { input, result } = calls.denied;
    const file = { proof: result.proof, events: log, policy: document, tool: { manifest }, input };
    const read = readEvidence(JSON.parse(JSON.stringify(file)) as JsonValue);
    if (!read.ok) throw new Error(read.message);
    const { steps } = await verifyProof(read.value.proof, read.value.evidence);
    expect(steps.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      "digest passed",
      "signature skipped",
      "inclusion passed",
      "re-evaluation passed",
      "discharge passed",
    ]);
  });

  it("takes a bare proof, and a call's result with its tool's name", () => {
    expect(readEvidence({ v: 1 })).toEqual({ ok: true, value: { proof: { v: 1 }, evidence: {} } });
    const result = { ok: true, tool: "echo@1.0.0", data: {}, proof: { v: 1 } };
    expect(readEvidence(result)).toEqual({ ok: true, value: { proof: { v: 1 }, evidence: {} } });
  });

  it("takes a key, a list of keys and a key set", async () => {
    const key = publicKeyOf(await createProofKey());
    const { kty, crv, x } = key;
    for (const keys of [key, [key], { keys: [key] }])
      expect(readEvidence({ proof: {}, keys: keys as unknown as JsonValue })).toMatchObject({
        value: { evidence: { keys: [{ kty, crv, x }] } },
      });
  });

  it.each<[string, JsonValue]>([
    ["keys", { kty: "RSA" }],
    ["keys", 1],
    ["events", {}],
    ["variables", []],
    ["tool", 1],
    ["grants", "net.read"],
  ])("names %s when it cannot be used: %j", (member, value) => {
    expect(readEvidence({ proof: {}, [member]: value })).toMatchObject({ ok: false, member });
  });

  it("never throws, and what it gives can be verified without a throw", async () => {
    const values: JsonValue[] = [];
    assert(
      property(jsonValue(), (value) => void values.push(value as JsonValue)),
      { numRuns: 100 },
    );
    for (const value of values) {
      for (const member of ["proof", "events", "policy", "tool", "input", "parent", "grants", "variables"]) {
        const read = readEvidence({ proof: {}, [member]: value });
        if (read.ok) expect((await verifyProof(read.value.proof, read.value.evidence)).ok).toBe(false);
      }
    }
  });
});

import type { JsonValue } from "@keyhole/kernel";
import {
  createProofKey,
  keyId,
  pinKeys,
  publicKeyOf,
  readEvidence,
  trustKeys,
  verifyProof,
} from "@keyhole/kernel/policy";
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
      "inclusion unvouched",
      "re-evaluation passed",
      "discharge unvouched",
    ]);
  });

  it("takes a bare proof, and a call's result with its tool's name", () => {
    expect(readEvidence({ v: 1 })).toEqual({ ok: true, value: { proof: { v: 1 }, evidence: {} } });
    const result = { ok: true, tool: "echo@1.0.0", data: {}, proof: { v: 1 } };
    const { proof, ...claims } = result;
    expect(readEvidence(result)).toEqual({ ok: true, value: { proof, evidence: { result: claims } } });
  });

  it("takes a key, a list of keys and a key set, as keys that came with the file", async () => {
    const key = publicKeyOf(await createProofKey());
    for (const keys of [key, [key], { keys: [key] }, []]) {
      const read = readEvidence({ proof: {}, keys: keys as unknown as JsonValue });
      const { enclosedKeys } = read.ok ? read.value.evidence : {};
      const isEmpty = Array.isArray(keys) && keys.length === 0;
      const kid = await keyId(key);
      expect([...((await enclosedKeys?.pinned([kid])) ?? [])]).toEqual(isEmpty ? [] : [[kid, key]]);
      expect(await enclosedKeys?.pinned([])).toEqual(new Map());
    }
  });

  it("gives no keys that can be trusted without naming them", async () => {
    const key = publicKeyOf(await createProofKey());
    const read = readEvidence({ proof: {}, keys: key as unknown as JsonValue });
    const enclosed = read.ok ? read.value.evidence.enclosedKeys! : undefined!;
    // @ts-expect-error: keys that came with the file are none that `trustKeys` takes.
    expect(typeof (await trustKeys(enclosed))).toBe("string");
    // @ts-expect-error: nor are they trusted keys.
    const verified = verifyProof({}, {}, enclosed);
    expect(await verified).toMatchObject({ verdict: "broken" });
    expect(typeof (await pinKeys([await keyId(key)], enclosed))).toBe("object");
    expect(typeof (await pinKeys([await keyId(await createProofKey())], enclosed))).toBe("string");
    expect(typeof (await pinKeys([], enclosed))).toBe("string");
  });

  it.each<[string, JsonValue]>([
    ["keys", { kty: "RSA" }],
    ["keys", 1],
    ["keys", { kty: "OKP", crv: "Ed25519", x: "AA" }],
    ["events", {}],
    ["checkpoints", {}],
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
      for (const member of ["proof", "events", "policy", "tool", "input", "parent", "grants", "keys", "checkpoints"]) {
        const read = readEvidence({ proof: {}, [member]: value });
        if (read.ok) expect((await verifyProof(read.value.proof, read.value.evidence)).verdict).toBe("broken");
      }
    }
  });
});

import { LINE_BYTES } from "@keyhole/kernel/audit";
import {
  blake3Hash,
  type AuditEvent,
  hashJson,
  type JsonObject,
  type JsonValue,
  type Proof,
  type ToolManifest,
} from "@keyhole/kernel";
import { createProofKey, keyId, proofSigner, publicKeyOf, verifyProof } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import { bitsAt, sampled } from "../support/sampled.ts";
import { sized } from "../support/size.ts";
import { trusting } from "../support/trusted.ts";
import { document, record } from "./recorded.ts";

const outcomes = (report: Awaited<ReturnType<typeof verifyProof>>) =>
  report.steps.map(({ level, name, outcome, reason }) => `${level} ${name} ${outcome}${reason && `: ${reason}`}`);

const hostile = {
  get v(): number {
    throw new Error("read");
  },
};

describe("keys", () => {
  // RFC 8037, appendix A.
  const d = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
  const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  it("have the thumbprint of RFC 8037, appendix A.3", async () => {
    expect(await keyId({ kty: "OKP", crv: "Ed25519", x })).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  });
  it("sign deterministically and without their private half", async () => {
    const signer = await proofSigner({ kty: "OKP", crv: "Ed25519", x, d });
    const proof = { hash: "blake3:00" } as Proof;
    expect(await signer.sign(proof)).toEqual(await signer.sign(proof));
    expect(publicKeyOf({ kty: "OKP", crv: "Ed25519", x, d } as never)).toEqual({ kty: "OKP", crv: "Ed25519", x });
  });
});

describe("a proof", () => {
  it("passes every level, for allow, deny, ask and answer alike", async () => {
    const { calls, manifest, log } = await record();
    for (const [name, { input, result }] of Object.entries(calls)) {
      const grants = name === "narrowed" ? [] : undefined;
      const isAnswered = result.proof?.reasonCode === "approved";
      const evidence = { events: log, policy: document, tool: { manifest }, input, ...(grants && { grants }) };
      expect(outcomes(await verifyProof(result.proof, evidence)), name).toEqual([
        "0 digest passed",
        "0 signature skipped: Signature not checked: there is no public key.",
        expect.stringMatching(/^1 inclusion unvouched: It holds in this log\. /),
        isAnswered
          ? "2 re-evaluation unvouched: No trusted key vouches for the approval request that the proof answers."
          : "2 re-evaluation passed",
        expect.stringMatching(/^3 discharge unvouched: It holds in this log\. /),
      ]);
    }
    expect(calls.erring.result.proof).toMatchObject({
      reasonCode: "approved",
      errors: [{ ruleId: "odd", code: "NOT_A_TEXT" }],
    });
    expect(calls.spent.result.proof).toMatchObject({ decision: "deny", determining: [{ ruleId: "budget" }] });
    // A disclosed value that no reader takes is no change of the log, and the log vouches for nothing.
    const events = [{ ...log[0]!, openings: [{ path: "", salt: "", value: "a".repeat(LINE_BYTES + 1) }] }];
    expect(await verifyProof(calls.spent.result.proof, { events })).toMatchObject({
      verdict: "unvouched",
      steps: expect.arrayContaining([
        expect.objectContaining({
          name: "inclusion",
          outcome: "unvouched",
          reason: expect.stringMatching(/^The log was not checked: /),
        }),
      ]),
    });
    for (const event of log) {
      if (event.type !== "policy.decided") continue;
      const { proof, proofHash, decision, rules } = event.payload;
      if (proof === undefined) continue;
      expect(await verifyProof(proof, { events: log })).toMatchObject({ verdict: "unvouched" });
      expect({ hash: proofHash, decision, determining: rules }).toEqual({
        hash: proof.hash,
        decision: proof.decision,
        determining: proof.determining.map(({ ruleId }) => ruleId),
      });
    }
  });

  it("is whole in the log for every decision of a call in which somebody was asked", async () => {
    const { calls, edited, log } = await record();
    const recorded = (callId: string) =>
      log.flatMap((event) => (event.callId === callId && event.type === "policy.decided" ? [event.payload] : []));
    for (const { callId, proof } of [calls.approved.result, edited]) {
      const decisions = recorded(callId);
      expect(decisions.length).toBeGreaterThan(1);
      for (const each of decisions) expect(each.proof?.hash).toBe(each.proofHash);
      expect(decisions.at(-1)!.proofHash).toBe(proof!.hash);
    }
    const [alone, ...others] = recorded(calls.allowed.result.callId);
    expect(others).toEqual([]);
    expect(alone).toMatchObject({ proofHash: calls.allowed.result.proof!.hash });
    expect(alone).not.toHaveProperty("proof");
  });

  it("of edited arguments follows from the question, and the run is proven for the new ones", async () => {
    const { edited, manifest, log } = await record();
    expect(edited).toMatchObject({ ok: true });
    const decided = log.filter(({ callId, type }) => callId === edited.callId && type === "policy.decided");
    expect(decided.map(({ payload }) => (payload as { decision: string }).decision)).toEqual(["ask", "deny", "allow"]);
    const evidence = { events: log, policy: document, tool: { manifest }, input: { amount: 7 } };
    expect(await verifyProof(edited.proof, evidence)).toMatchObject({ verdict: "unvouched" });
    expect(await verifyProof(edited.proof, { ...evidence, input: { amount: 666 } })).toMatchObject({
      verdict: "broken",
    });
  });

  it("of an answer is not re-evaluated without the proof of its question, and is not broken for the lack of it", async () => {
    const { calls, manifest, log } = await record();
    const { input, result } = calls.approved;
    const own = { policy: document, tool: { manifest }, input };
    const lacking = await verifyProof(result.proof, own);
    expect(lacking.verdict).toBe("unvouched");
    expect(outcomes(lacking)).toContain("2 re-evaluation skipped: The check needs the proof of the approval request.");
    const after = log.slice(log.findIndex((event) => event.callId === result.callId && event.type === "tool.started"));
    expect(outcomes(await verifyProof(result.proof, { ...own, events: after })).join()).toContain(
      "2 re-evaluation skipped",
    );
    const question = log.flatMap(({ payload }) =>
      "proof" in payload && payload.proof?.proofId === result.proof!.parentProofId ? [payload.proof] : [],
    )[0]!;
    expect(outcomes(await verifyProof(result.proof, { ...own, parent: question }))).toContain(
      "2 re-evaluation unvouched: No trusted key vouches for the approval request that the proof answers.",
    );
    for (const wrong of [
      { ...own, input: { amount: 102 } },
      { ...own, policy: { ...document, version: "2" } },
      { ...own, parent: { ...question, decision: "allow" } },
    ])
      expect(await verifyProof(result.proof, wrong)).toMatchObject({ verdict: "broken" });
  });

  it("is refused at level 0 for every flipped bit", async () => {
    const { calls } = await record();
    const text = JSON.stringify(calls.approved.result.proof);
    const bytes = new TextEncoder().encode(text);
    let found = 0;
    let flips = 0;
    for (const at of sampled(bytes.length, 3)) {
      for (const bit of bitsAt(at)) {
        const flipped = Uint8Array.from(bytes);
        flipped[at]! ^= 1 << bit;
        let foreign: unknown;
        try {
          foreign = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(flipped));
        } catch {
          continue;
        }
        const { signature: _, ...proof } = foreign as Proof;
        if (JSON.stringify(proof) === JSON.stringify({ ...calls.approved.result.proof, signature: undefined }))
          continue;
        flips++;
        if ((await verifyProof(foreign)).verdict === "broken") found++;
      }
    }
    expect(flips).toBeGreaterThan(sized(200, 5_000));
    expect(found).toBe(flips);
  });

  it("is signed; rotation keeps old proofs verifiable; a flipped bit of the signature is found", async () => {
    const [oldKey, newKey] = [await createProofKey(), await createProofKey()];
    const { calls } = await record();
    const { signature: _, ...bare } = calls.allowed.result.proof!;
    const byOld = await (await proofSigner(oldKey)).sign(bare);
    const byNew = await (await proofSigner(newKey)).sign(bare);
    const keys = await trusting(newKey, oldKey);
    for (const [proof, key] of [
      [byOld, oldKey],
      [byNew, newKey],
      [{ ...bare, signature: byOld.signature }, oldKey],
    ] as const)
      expect(await verifyProof(proof, {}, keys)).toMatchObject({
        verdict: "verified",
        vouchedBy: { kind: "key", kid: await keyId(key) },
        proof: bare,
      });
    expect(await verifyProof(byOld, {}, await trusting(newKey))).toMatchObject({ verdict: "broken" });
    expect(await verifyProof(bare, {}, keys)).toMatchObject({ verdict: "broken" });
    expect(await verifyProof(byOld)).toMatchObject({ verdict: "unvouched", claimed: bare });
    const { signature } = byNew;
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const field of ["value", "kid"] as const) {
      const text = signature![field];
      for (let at = 0; at < text.length; at++) {
        for (const bit of [1, 2, 4, 8, 16, 32]) {
          const other = alphabet[alphabet.indexOf(text[at]!) ^ bit]!;
          const forged = {
            ...byNew,
            signature: { ...signature!, [field]: text.slice(0, at) + other + text.slice(at + 1) },
          };
          expect((await verifyProof(forged, {}, keys)).verdict, `${field} ${at} ${bit}`).toBe("broken");
        }
      }
    }
  });

  it.each<[string, (evidence: { policy: typeof document; manifest: ToolManifest; input: JsonValue }) => object]>([
    ["another policy", ({ policy }) => ({ policy: { ...policy, posture: "permissive" } })],
    ["a policy that is none", () => ({ policy: { version: "1" } })],
    ["other arguments", () => ({ input: { amount: 2 } })],
    ["another tool", ({ manifest }) => ({ tool: { manifest: { ...manifest, tier: 1 } } })],
    ["another caller's grants", () => ({ grants: [] })],
    ["a tool that is none", () => ({ tool: { manifest: null } })],
  ])("does not pass level 2 with %s", async (_, change) => {
    const { calls, manifest } = await record();
    const evidence = { policy: document, tool: { manifest }, input: calls.allowed.input };
    expect(await verifyProof(calls.allowed.result.proof, evidence)).toMatchObject({ verdict: "unvouched" });
    const report = await verifyProof(calls.allowed.result.proof, {
      ...evidence,
      ...change({ policy: document, manifest, input: {} }),
    });
    expect(report.steps.find(({ level }) => level === 2)).toMatchObject({ outcome: "failed" });
  });

  it("that lies about its decision passes no level 2, however well it is hashed", async () => {
    const { calls, manifest } = await record();
    const { sealProof } = await import("../../packages/kernel/src/policy/proof/seal-proof.ts");
    const { hash: _, signature: __, v: ___, engineVersion: ____, ...body } = calls.denied.result.proof!;
    const forged = sealProof({ ...body, decision: "allow", reasonCode: "posture", determining: [] }, blake3Hash);
    expect(await verifyProof(forged)).toMatchObject({ verdict: "unvouched" });
    const evidence = { policy: document, tool: { manifest }, input: calls.denied.input };
    expect(await verifyProof(forged, evidence)).toMatchObject({ verdict: "broken" });
  });

  it("does not pass with a log that lost, changed or never had its decision, or in which a denied tool ran", async () => {
    const { calls, log } = await record();
    const { proof, callId } = calls.denied.result;
    const at = log.findIndex((event) => event.callId === callId && event.type === "policy.decided");
    const without = log.toSpliced(at, 1);
    expect(await verifyProof(proof, { events: without })).toMatchObject({ verdict: "broken" });
    expect(await verifyProof(proof, { events: log.slice(0, at) })).toMatchObject({ verdict: "broken" });
    expect(await verifyProof(proof, { events: [null, 1, "x"] as never })).toMatchObject({ verdict: "broken" });
    expect(await verifyProof(proof, { events: log.with(at, { ...log[at]!, time: "x" }) })).toMatchObject({
      verdict: "broken",
    });
    const { hash: _, ...started } = {
      ...log[at + 1]!,
      type: "tool.started",
      payload: { tool: "x", toolHash: "x", host: "x" },
    } as AuditEvent;
    const forged = [
      ...log.slice(0, at + 1),
      { ...started, hash: hashJson(started as unknown as JsonObject) } as AuditEvent,
    ];
    const report = await verifyProof(proof, { events: forged });
    expect(report.steps.at(-1)).toMatchObject({
      level: 3,
      outcome: "failed",
      reason: "The tool ran although the decision was deny.",
    });
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["nothing", undefined],
    ["a number", 1],
    ["a text", "proof"],
    ["a list", []],
    ["an empty object", {}],
    ["a trap", hostile],
  ])("is not %s", async (_, foreign) => {
    const evidence = { events: foreign as never, policy: foreign, tool: foreign as never, input: 1 };
    expect(await verifyProof(foreign, evidence)).toMatchObject({ verdict: "broken" });
  });
});

import {
  type ApprovalProof,
  type ApprovalRequest,
  type AuditEvent,
  hashJson,
  type PasskeyAssertion,
  type Proof,
} from "@keyhole/kernel";
import { verifyProof } from "@keyhole/kernel/policy";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertionFault, type PasskeyQuestion } from "../../packages/kernel/src/policy/approval/passkey.ts";
import { obligationFault } from "../../packages/kernel/src/policy/review/check-obligations.ts";
import { clientDataOf } from "../support/authenticator.ts";
import { sized } from "../support/size.ts";
import { bob, demanding, passkeysOf, signing } from "./passkeys.ts";
import { open } from "./paying.ts";

describe("the proof of a yes with a passkey", () => {
  const prove = async () => {
    const policy = demanding(bob);
    const { call, events, manifest } = await open(signing(bob), policy);
    const { proof } = await call({ amount: 5 });
    const evidence = { events: await events(), policy, tool: { manifest }, input: { amount: 5 } };
    return { proof: proof!, evidence, policy };
  };
  const stepOf = async (proof: unknown, evidence: object) => {
    const { steps } = await verifyProof(proof, evidence);
    return steps.find(({ name }) => name === "re-evaluation");
  };
  const sealed = (proof: object): object => {
    const { hash: _, signature: __, ...parts } = proof as { hash: string; signature?: unknown };
    return { ...parts, hash: hashJson(parts) };
  };

  it.each<[string, (approval: ApprovalProof) => object]>([
    ["that is gone", ({ passkey: _, ...rest }) => rest],
    ["of another approval", (approval) => ({ ...approval, approvalId: "another" })],
    ["of another approver", (approval) => ({ ...approval, approver: "eve" })],
    ["that reaches further than was signed", (approval) => ({ ...approval, scope: "session" })],
    ["of another caller", (approval) => ({ ...approval, passkey: { ...approval.passkey, caller: "eve" } })],
    [
      "that was open for longer",
      (approval) => ({ ...approval, passkey: { ...approval.passkey, askedUntil: "2999-01-01T00:00:00.000Z" } }),
    ],
    [
      "whose signature is another one",
      (approval) => ({ ...approval, passkey: { ...approval.passkey, signature: "MAYCAQECAQE" } }),
    ],
  ])("is broken with an assertion %s", async (_, change) => {
    const { proof, evidence } = await prove();
    const forged = sealed({ ...proof, approval: change(proof.approval!) });
    expect((await stepOf(proof, evidence))?.outcome).toBe("passed");
    expect((await stepOf(forged, evidence))?.outcome).toBe("failed");
  });

  it("is broken for a log in which the tool ran on a yes without one", async () => {
    const { proof } = await prove();
    const question = { ...proof, decision: "ask", reasonCode: "posture", approval: null, proofId: proof.parentProofId };
    const { passkey: _, ...approval } = proof.approval!;
    const answer = sealed({ ...proof, approval });
    const asked = sealed(question) as Proof;
    const event = (seq: number, type: string, payload: object) => ({ seq, type, callId: proof.callId, payload });
    const decided = (each: object) => ({ ...each, proofHash: (each as Proof).hash, proof: each });
    const events = [
      event(0, "policy.decided", decided(asked)),
      event(1, "policy.decided", decided(answer)),
      event(2, "tool.started", {}),
      event(3, "tool.completed", {}),
    ] as unknown as AuditEvent[];
    expect(obligationFault(asked, events)).toBe("The tool ran without the demanded approval.");
  });
});

describe("an assertion", () => {
  const question: PasskeyQuestion = {
    approvalId: "0190",
    tool: "pay@1.0.0",
    toolHash: "blake3:0",
    argsHash: "blake3:1",
    grantHash: "blake3:2",
    policyHash: "blake3:3",
    caller: "ada",
    sessionId: "s",
    scope: "pattern",
    pattern: [{ at: "/amount", atMost: 10 }],
    askedUntil: "2026-01-01T00:00:00.000Z",
  };
  const faultOf = (assertion: PasskeyAssertion, asked = question) =>
    assertionFault(passkeysOf(bob), asked, "bob", assertion);
  const sign = async () => {
    const { scope, pattern, askedUntil, ...request } = question;
    const asked = { ...request, hasBody: false, expiresAt: askedUntil } as unknown as ApprovalRequest;
    return bob.sign({ clientData: await clientDataOf(asked, scope, pattern ?? undefined) });
  };

  it("is one to all of its question: a change of any part is another question", async () => {
    const assertion = await sign();
    expect(await faultOf(assertion)).toBeUndefined();
    const names = Object.keys(question) as (keyof PasskeyQuestion)[];
    for (const name of names)
      expect([
        name,
        await faultOf(assertion, { ...question, [name]: name === "pattern" ? [] : "other" } as PasskeyQuestion),
      ]).toEqual([name, "The passkey signed the answer to another question."]);
  });

  it("has no byte that could be another one", async () => {
    const good = await sign();
    const member = fc.constantFrom(...(["authenticatorData", "clientDataJSON", "signature"] as const));
    await fc.assert(
      fc.asyncProperty(member, fc.nat(), fc.integer({ min: 1, max: 255 }), async (name, place, change) => {
        const bytes = Buffer.from(good[name], "base64url");
        const at = place % bytes.length;
        bytes[at] = bytes[at]! ^ change;
        expect(await faultOf({ ...good, [name]: bytes.toString("base64url") })).toBeDefined();
      }),
      { numRuns: sized(100, 2_000) },
    );
  });

  it("has one spelling", async () => {
    const good = await sign();
    for (const name of ["authenticatorData", "clientDataJSON", "signature"] as const)
      expect(await faultOf({ ...good, [name]: `${good[name]}=` })).toMatch("base64url");
  });
});

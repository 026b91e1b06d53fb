import {
  type ApprovalProof,
  type ApprovalRequest,
  type AuditEvent,
  hashJson,
  type JsonObject,
  type PasskeyAssertion,
  type Proof,
} from "@keyhole/kernel";
import { verifyProof } from "@keyhole/kernel/policy";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertionFault, type PasskeyQuestion } from "../../packages/kernel/src/policy/approval/passkey.ts";
import { obligationFault } from "../../packages/kernel/src/policy/review/check-obligations.ts";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { clientDataOf } from "../support/authenticator.ts";
import { ioOf } from "../support/command-files.ts";
import { sized } from "../support/size.ts";
import { bob, demanding, eve, passkeysOf, signing, yes } from "./passkeys.ts";
import { asking, open } from "./paying.ts";

const resealed = (proof: object): object => {
  const { hash: _, signature: __, ...parts } = proof as { hash: string; signature?: unknown };
  return { ...parts, hash: hashJson(parts) };
};

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
    const forged = resealed({ ...proof, approval: change(proof.approval!) });
    expect((await stepOf(proof, evidence))?.outcome).toBe("passed");
    expect((await stepOf(forged, evidence))?.outcome).toBe("failed");
  });

  it("is broken for a log in which the tool ran on a yes without one", async () => {
    const { proof } = await prove();
    const question = { ...proof, decision: "ask", reasonCode: "posture", approval: null, proofId: proof.parentProofId };
    const { passkey: _, ...approval } = proof.approval!;
    const answer = resealed({ ...proof, approval });
    const asked = resealed(question) as Proof;
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

describe("keyhole verify, on a log with approvals", () => {
  const policy = demanding(bob);
  const logOf = async (asks: object = policy): Promise<readonly AuditEvent[]> => {
    const { call, events } = await open(asks === policy ? signing(bob) : async () => yes(), asks);
    await call({ amount: 5 });
    return events();
  };
  /** The log of a forger, who chains each event again. */
  const chained = (events: readonly object[]): object[] => {
    let { prev } = events[0] as { prev: unknown };
    return events.map((event, seq) => {
      const { hash: _, ...parts } = event as { hash: unknown };
      const body = { ...parts, seq, prev };
      const hash = hashJson(body as unknown as JsonObject);
      prev = hash;
      return { ...body, hash };
    });
  };
  const rewritten = async (change: (payload: Record<string, unknown>) => object): Promise<object[]> =>
    chained(
      (await logOf()).map((event) => {
        const isYes = event.type === "policy.decided" && event.payload.reasonCode === "approved";
        return isYes ? { ...event, payload: change({ ...event.payload }) } : event;
      }),
    );
  const approved = (change: (proof: Proof, approval: ApprovalProof) => object) => () =>
    rewritten((payload) => {
      const proof = payload["proof"] as Proof;
      const forged = resealed(change(proof, proof.approval!)) as Proof;
      return { ...payload, proof: forged, proofHash: forged.hash };
    });
  const withoutPasskey = approved((proof, { passkey: _, ...approval }) => ({ ...proof, approval }));

  it.each<[string, () => Promise<readonly object[]>, object | undefined, number, string]>([
    [
      "names the approvers whose passkey signed",
      logOf,
      policy,
      3,
      "✓ passkeys    1 approval signed by a passkey of bob.",
    ],
    [
      "asks for the policy",
      logOf,
      undefined,
      3,
      "– passkeys    1 approval not checked. Name the policy: --policy FILE.",
    ],
    [
      "does not check under another policy",
      logOf,
      demanding(bob, eve),
      3,
      "– passkeys    1 approval under another policy",
    ],
    [
      "counts those that needed no passkey",
      () => logOf(asking),
      asking,
      3,
      "– passkeys    1 approval without a passkey",
    ],
    ["refuses an approval without a passkey", withoutPasskey, policy, 1, "the approval has none"],
    [
      "refuses one that hides the demand",
      approved((proof) => ({ ...proof, obligations: ["approval"] })),
      policy,
      1,
      "The policy demands a passkey, and the decision did not.",
    ],
    [
      "refuses a passkey of another caller",
      approved((proof, { passkey, ...rest }) => ({
        ...proof,
        approval: { ...rest, passkey: { ...passkey, caller: "eve" } },
      })),
      policy,
      1,
      "of another caller or session",
    ],
    [
      "refuses an approval for one call in a second one",
      async () => {
        const events = await logOf();
        const second = { callId: "another", proofId: "another", decidedAt: "2999-01-01T00:00:00.000Z" };
        const copies = events.map((event) => {
          if (event.callId === null) return event;
          const { payload } = event as { payload: { proof?: Proof } };
          const proof = payload.proof && (resealed({ ...payload.proof, ...second }) as Proof);
          return {
            ...event,
            callId: "another",
            payload: { ...payload, ...(proof && { proof, proofHash: proof.hash }) },
          };
        });
        return chained([...events, ...copies.filter(({ callId }) => callId !== null)]);
      },
      policy,
      1,
      "The passkey approved one call, and another one has its approval as well.",
    ],
    [
      "refuses an approval without its proof",
      () => rewritten(({ proof: _, ...payload }) => payload),
      policy,
      1,
      "The event has no proof of the approval.",
    ],
    [
      "refuses the proof of another call",
      approved((proof) => ({ ...proof, callId: "another" })),
      policy,
      1,
      "of another decision than its event",
    ],
  ])("%s", async (_, events, asked, exitCode, text) => {
    const written = (await events()).map((event) => JSON.stringify(event)).join("\n");
    const files = { "a.jsonl": `${written}\n`, "list.json": await events(), "policy.json": asked };
    for (const file of ["a.jsonl", "list.json"]) {
      const io = ioOf(files);
      const result = await runCommand(["verify", file, ...(asked ? ["--policy", "policy.json"] : [])], io);
      expect(result).toMatchObject({ exitCode, output: expect.stringContaining(text) });
    }
  });

  it("finds an approval whose spelling has escapes", async () => {
    const lines = (await withoutPasskey()).map((event) =>
      JSON.stringify(event).replace('"approved"', '"\\u0061pproved"'),
    );
    const io = ioOf({ "a.jsonl": `${lines.join("\n")}\n`, "policy.json": policy });
    expect(await runCommand(["verify", "a.jsonl", "--policy", "policy.json"], io)).toMatchObject({ exitCode: 1 });
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

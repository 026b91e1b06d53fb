import type { ApprovalAnswer, ApprovalRequest, Approver, PasskeyAssertion } from "@keyhole/kernel";
import { verifyProof } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import {
  clientDataOf,
  type KeyAlgorithm,
  newAuthenticator,
  origin,
  rpId,
  type SignedParts,
} from "../support/authenticator.ts";
import { expectSoundLog } from "../support/kernel.ts";
import { bob, demanding, eve, passkeysOf, signing, yes } from "./passkeys.ts";
import { open } from "./paying.ts";

describe("a policy that demands a passkey", () => {
  it.each<KeyAlgorithm>(["ECDSA", "Ed25519", "RSASSA-PKCS1-v1_5"])(
    "takes a yes that a key of %s signed, and proves it",
    async (algorithm) => {
      const signer = await newAuthenticator("bob", algorithm);
      const policy = demanding(signer);
      const { call, runs, kernel, events, manifest } = await open(signing(signer), policy);
      const { ok, proof } = await call({ amount: 5 });
      expect([ok, runs()]).toEqual([true, 1]);
      expect(proof?.obligations).toContain("passkey");
      expect(proof?.approval?.passkey).toMatchObject({ credentialId: signer.passkey.credentialId, caller: "ada" });
      await expectSoundLog(kernel);
      const evidence = { events: await events(), policy, tool: { manifest }, input: { amount: 5 } };
      const { steps } = await verifyProof(proof, evidence);
      expect(steps.filter(({ outcome }) => outcome === "failed")).toEqual([]);
      expect(steps.find(({ name }) => name === "re-evaluation")?.outcome).toBe("passed");
    },
  );

  it("shows the approver which passkeys count, and for which domain", async () => {
    const requests: ApprovalRequest[] = [];
    const { call, kernel } = await open(
      async (request) => {
        requests.push(request);
        return yes();
      },
      demanding(bob, eve),
    );
    const preview = await kernel.preview("pay", { amount: 5 }, { caller: "ada" });
    await call({ amount: 5 });
    const keys = [bob, eve].map(({ passkey: { approver, credentialId } }) => ({ approver, credentialId }));
    expect(requests[0]?.passkey).toEqual({ rpId, keys });
    expect(preview).toMatchObject({ decision: "ask", question: { passkey: { rpId, keys } } });
  });

  const forged: readonly (readonly [string, (request: ApprovalRequest) => Promise<ApprovalAnswer>])[] = [
    ["without an assertion", async () => yes()],
    ["with an assertion that is no object", async () => yes("passkey" as never)],
    [
      "with empty texts",
      async () => yes({ credentialId: "", authenticatorData: "", clientDataJSON: "", signature: "" }),
    ],
    ["of a passkey that the policy does not name", async (request) => signing(eve)(request, neverAborted)],
    [
      "in the name of another approver",
      async (request) => ({ ...(await signing(bob)(request, neverAborted)), approver: "carol" }),
    ],
    [
      "of another approver's passkey under the id of a known one",
      async (request) => {
        const assertion = await eve.sign({ clientData: await clientDataOf(request) });
        return yes({ ...assertion, credentialId: bob.passkey.credentialId });
      },
    ],
    [
      "for a wider scope than was signed",
      async (request) => yes(await bob.sign({ clientData: await clientDataOf(request, "once") }), "session"),
    ],
    [
      "with a signature of nothing",
      async (request) => {
        const assertion = await bob.sign({ clientData: await clientDataOf(request) });
        return yes({ ...assertion, signature: "MAYCAQECAQE" });
      },
    ],
  ];
  it.each(forged)("denies a yes %s", async (_, answer) => {
    const { call, runs, kernel } = await open((request) => answer(request), demanding(bob));
    expect(await call({ amount: 5 })).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    expect(runs()).toBe(0);
    await expectSoundLog(kernel);
  });

  const signedOtherwise: readonly (readonly [string, string, (data: Record<string, unknown>) => SignedParts])[] = [
    ["to another challenge", "another question", (data) => ({ clientData: { ...data, challenge: "AAAA" } })],
    ["at another page", "the page", (data) => ({ clientData: { ...data, origin: "https://evil.example" } })],
    [
      "at a page whose name begins alike",
      "the page",
      (data) => ({ clientData: { ...data, origin: `${origin}.evil.example` } }),
    ],
    ["in a frame", "in a frame", (data) => ({ clientData: { ...data, crossOrigin: true } })],
    [
      "in a frame of a named page",
      "in a frame",
      (data) => ({ clientData: { ...data, topOrigin: "https://evil.example" } }),
    ],
    [
      "when a passkey was made",
      "a value that is not an answer",
      (data) => ({ clientData: { ...data, type: "webauthn.create" } }),
    ],
    ["in what is no JSON", "a value that is not an answer", () => ({ clientData: "webauthn.get" })],
    ["in a list", "a value that is not an answer", (data) => ({ clientData: [data] })],
    ["for another domain", "another domain", (data) => ({ clientData: data, rpId: "evil.example" })],
    ["with nobody there", "did not verify", (data) => ({ clientData: data, flags: 0b100 })],
    ["without a look at who is there", "did not verify", (data) => ({ clientData: data, flags: 0b001 })],
  ];
  it.each(signedOtherwise)("denies what was signed %s", async (_, why, parts) => {
    const approver: Approver = async (request) => yes(await bob.sign(parts(await clientDataOf(request))));
    const { call, runs } = await open(approver, demanding(bob));
    const error = { code: "APPROVAL_DENIED", message: expect.stringContaining(why) as string };
    expect(await call({ amount: 5 })).toMatchObject({ error });
    expect(runs()).toBe(0);
  });

  it("denies the assertion of an earlier question, and of other arguments", async () => {
    const assertions: PasskeyAssertion[] = [];
    const { call, runs } = await open(async (request) => {
      assertions.push(await bob.sign({ clientData: await clientDataOf(request) }));
      return yes(assertions[0]);
    }, demanding(bob));
    expect((await call({ amount: 5 })).ok).toBe(true);
    expect((await call({ amount: 5 })).ok).toBe(false);
    expect((await call({ amount: 6 })).ok).toBe(false);
    expect(runs()).toBe(1);
  });

  it("stands for the session where that was signed", async () => {
    let asked = 0;
    const approver: Approver = (...question) => (asked++, signing(bob, "session")(...question));
    const { call, runs } = await open(approver, demanding(bob));
    expect((await call({ amount: 5 })).ok && (await call({ amount: 5 })).ok).toBe(true);
    expect([asked, runs()]).toEqual([1, 2]);
  });

  it("asks again where an earlier yes came without a passkey", async () => {
    const large = {
      id: "large",
      effect: "ask",
      approver: "passkey",
      reason: "Large.",
      when: { arguments: [{ at: "/amount", moreThan: 100 }] },
    };
    const policy = { version: "1", posture: "standard", passkeys: passkeysOf(bob), rules: [large] };
    const wide = [{ at: "/amount", atMost: 1_000 }];
    const { call, runs, kernel } = await open(
      async () => ({ answer: "allow", scope: "pattern", pattern: wide, approver: "bob" }),
      policy,
    );
    expect((await call({ amount: 5 })).proof?.obligations).not.toContain("passkey");
    expect((await call({ amount: 6 })).ok).toBe(true);
    const refused = await call({ amount: 101 });
    expect(refused).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    expect(refused.proof?.obligations).toContain("passkey");
    expect(runs()).toBe(2);
    await expectSoundLog(kernel);
  });

  it("demands it of every question that a rule with the demand matches, whatever else asks", async () => {
    const rules = [
      { id: "all", effect: "ask", reason: "All.", when: {} },
      { id: "ada", effect: "ask", approver: "passkey", reason: "Ada.", when: { caller: ["ada"] } },
    ];
    const policy = { version: "1", posture: "standard", passkeys: passkeysOf(bob), rules };
    const { call } = await open(async () => yes(), policy);
    expect((await call({ amount: 5 })).ok).toBe(false);
    expect((await call({ amount: 5 }, { caller: "carol" })).ok).toBe(true);
  });
});

const neverAborted = new AbortController().signal;

import { type ApprovalAnswer, type ApprovalRequest, type Capability, verifyProofDigest } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { expectSoundLog, granting, openKernel, toolOf } from "../support/kernel.ts";

const asking = { version: "1", posture: "standard" } as const;
const allow = { answer: "allow", scope: "once", approver: "ada" } as const;

describe("an answer of an approver", () => {
  it("that throws when the kernel reads it is a denial", async () => {
    const answer = {
      get answer(): never {
        throw new Error("read me not");
      },
    };
    const { kernel } = await openKernel({ policy: asking, approver: async () => answer as unknown as ApprovalAnswer });
    kernel.registerTrusted(toolOf(() => 1, { tier: 2 }));
    const result = await kernel.call("subject", {});
    expect(result).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    await expectSoundLog(kernel);
  });

  it("cannot change the request that the proof records", async () => {
    let shown: ApprovalRequest | undefined;
    const { kernel } = await openKernel({
      policy: asking,
      approver: async (request) => {
        shown = { ...request };
        for (const key of ["approvalId", "argsHash", "expiresAt"]) Reflect.set(request, key, "another");
        return allow;
      },
    });
    kernel.registerTrusted(toolOf(() => 1, { tier: 2 }));
    const { proof } = await kernel.call("subject", {});
    const { approvalId, argsHash, expiresAt } = shown!;
    expect(proof?.approval).toMatchObject({ approvalId, argsHash, expiresAt });
    expect(proof?.approval?.argsHash).toBe(proof?.inputHash);
    expect(verifyProofDigest(proof)).toEqual({ ok: true });
  });

  it("for the session does not hold in another mode", async () => {
    let asked = 0;
    const { kernel } = await openKernel({
      policy: asking,
      approver: async () => {
        asked++;
        return { ...allow, scope: "session" };
      },
    });
    kernel.registerTrusted(toolOf(() => 1, { tier: 2 }));
    await kernel.call("subject", {}, { sessionId: "s" });
    await kernel.call("subject", {}, { sessionId: "s" });
    expect(asked).toBe(1);
    await kernel.setMode("ALERT", "something looks wrong");
    await kernel.call("subject", {}, { sessionId: "s" });
    expect(asked).toBe(2);
  });
});

describe("a request for approval", () => {
  const shown = async (declared: Capability, granted: Capability, narrowed?: Capability) => {
    let grants: readonly string[] = [];
    const { kernel } = await openKernel({
      policy: granting(granted),
      approver: async (request) => {
        ({ grants } = request);
        return { answer: "deny", approver: "ada" };
      },
    });
    const more = { capabilities: [declared], effects: ["net.read"], determinism: "external", approval: "always" };
    kernel.registerTrusted(toolOf(() => 1, more));
    await kernel.call("subject", {}, narrowed ? { grants: [narrowed] } : {});
    return grants;
  };
  const net = (...hosts: string[]): Capability => ({ kind: "net.read", hosts });

  it("names every layer that narrows a grant", async () => {
    expect(await shown(net("*"), net("*.example.com"))).toEqual(["net.read *.example.com"]);
    expect(await shown(net("api.example.com"), net("*"))).toEqual(["net.read *, within net.read api.example.com"]);
    expect(await shown(net("*"), net("*.example.com"), net("*"))).toEqual([
      "net.read *, within net.read *.example.com",
    ]);
    expect(await shown(net("a.com"), net("a.com"), net("a.com"))).toEqual(["net.read a.com"]);
  });
});

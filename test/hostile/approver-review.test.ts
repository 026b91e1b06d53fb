import { type ApprovalAnswer, type ApprovalRequest, verifyProof } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

const asking = { version: "1", posture: "standard" } as const;
const allow = { answer: "allow", scope: "once", approver: "ada" } as const;

describe("a hostile approver", () => {
  it("answers with an object that throws when it is read: a denial, at once", async () => {
    const answer = {
      get answer(): never {
        throw new Error("read me not");
      },
    };
    const { kernel } = await openKernel({ policy: asking, approver: async () => answer as unknown as ApprovalAnswer });
    kernel.register(toolOf(() => 1, { tier: 2 }));
    const result = await kernel.call("subject", {});
    expect(result).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    await expectSoundLog(kernel);
  });

  it("changes what it was shown: the proof is about what was asked", async () => {
    let shown: ApprovalRequest | undefined;
    const { kernel } = await openKernel({
      policy: asking,
      approver: async (request) => {
        shown = { ...request };
        for (const key of ["approvalId", "argsHash", "expiresAt"]) Reflect.set(request, key, "another");
        return allow;
      },
    });
    kernel.register(toolOf(() => 1, { tier: 2 }));
    const { proof } = await kernel.call("subject", {});
    const { approvalId, argsHash, expiresAt } = shown!;
    expect(proof?.approval).toMatchObject({ approvalId, argsHash, expiresAt });
    expect(proof?.approval?.argsHash).toBe(proof?.inputHash);
    expect(verifyProof(proof)).toEqual({ ok: true });
  });
});

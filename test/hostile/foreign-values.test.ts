import { verifyProofDigest } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

/*
 * What somebody else gives can change later, say something else of itself than it is, or be no answer at all. See also rereads.test.ts.
 */

describe("an approver", () => {
  it("that loosens its pattern after it answered has not loosened the approval, nor the proof", async () => {
    const pattern = [{ at: "/amount", atMost: 100 }];
    let asked = 0;
    const { kernel } = await openKernel({
      policy: { version: "1", posture: "standard" },
      approver: async () =>
        asked++ === 0
          ? { answer: "allow", scope: "pattern", pattern, approver: "ada" }
          : { answer: "deny", approver: "bob" },
    });
    kernel.registerTrusted(toolOf((input) => input, { tier: 2 }));
    const first = await kernel.call("subject", { amount: 5 }, { sessionId: "s" });
    expect(first).toMatchObject({ ok: true });
    pattern[0]!.atMost = 1e9;
    expect(await kernel.call("subject", { amount: 1_000_000 }, { sessionId: "s" })).toMatchObject({ ok: false });
    expect(await kernel.call("subject", { amount: 100 }, { sessionId: "s" })).toMatchObject({ ok: true });
    expect(asked).toBe(2);
    expect(verifyProofDigest(first.proof)).toEqual({ ok: true });
    expect(() => Object.assign(first.proof!.approval!.rule!.when.arguments![0]!, { atMost: 1e9 })).toThrow(TypeError);
  });
});

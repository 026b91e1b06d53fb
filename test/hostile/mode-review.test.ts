import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

const asking = { version: "1", posture: "standard" } as const;
const allow = { answer: "allow", approver: "ada" } as const;

describe("an approver", () => {
  it("said yes for the session in another mode: it is asked again", async () => {
    let asked = 0;
    const { kernel } = await openKernel({
      policy: asking,
      approver: async () => {
        asked++;
        return { ...allow, scope: "session" };
      },
    });
    kernel.register(toolOf(() => 1, { tier: 2 }));
    await kernel.call("subject", {}, { sessionId: "s" });
    await kernel.call("subject", {}, { sessionId: "s" });
    expect(asked).toBe(1);
    await kernel.setMode("ALERT", "something looks wrong");
    await kernel.call("subject", {}, { sessionId: "s" });
    expect(asked).toBe(2);
  });
});

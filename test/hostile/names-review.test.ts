import { describe, expect, it } from "vitest";
import { echo, expectSoundLog, openKernel } from "../support/kernel.ts";

describe("a caller that chooses names", () => {
  it.each([
    ["two long names that begin alike", `${"a".repeat(256)}1`, `${"a".repeat(256)}2`],
    ["two names that are no text", "\ud800", "\ud801"],
    ["a broken name and its repair", "\ud800", "\ufffd"],
  ])("cannot make one of two: %s", async (_, one, other) => {
    const { kernel, events } = await openKernel();
    kernel.register(echo);
    await kernel.call("echo", { message: "x" }, { sessionId: one, caller: one });
    await kernel.call("echo", { message: "x" }, { sessionId: other, caller: other });
    const invoked = (await events()).filter(({ type }) => type === "call.invoked");
    expect(new Set(invoked.map(({ sessionId }) => sessionId)).size).toBe(2);
    expect(new Set(invoked.map(({ payload }) => (payload as { caller: string }).caller)).size).toBe(2);
    await expectSoundLog(kernel);
  });
});

import { describe, it } from "vitest";
import { echo, expectSoundLog, openKernel } from "../support/kernel.ts";

const call = { message: "x" };

describe("the record", () => {
  it("does not change with what a caller does to its result and to the events that it hears", async () => {
    const { kernel } = await openKernel();
    kernel.register(echo);
    const result = await kernel.call("echo", call, {
      onEvent: (event) => {
        Reflect.set(event, "seq", 7);
        Reflect.set(event.payload, "tool", "another");
      },
    });
    Reflect.set(result.proof!, "decision", "deny");
    Reflect.set(result.proof!.determining, "0", { ruleId: "forged", ruleHash: "" });
    await expectSoundLog(kernel);
  });
});

import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

describe("a caller", () => {
  it("hears nothing of a trusted tool that speaks after its end", async () => {
    const heard: unknown[] = [];
    let speak = (): void => {};
    const { kernel } = await openKernel();
    kernel.register(
      toolOf((_, context: { log(text: string): void; progress(done: object): void }) => {
        speak = () => {
          context.log("late");
          context.progress({ done: 1 });
        };
        return 1;
      }),
    );
    const listen = (said: unknown): void => void heard.push(said);
    await kernel.call("subject", {}, { onLog: listen, onProgress: listen });
    speak();
    expect(heard).toEqual([]);
  });
});

import type { LogEntry, Progress, ToolContext } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { limits } from "@keyhole/kernel";
import { openKernel, toolOf } from "../support/kernel.ts";

it("cuts log lines and progress messages of a trusted tool, which can be the words of a server", async () => {
  const { kernel } = await openKernel();
  const texts = ["x".repeat(limits.messageLength), "x".repeat(limits.messageLength + 1), `${"😀".repeat(999)}x😀`];
  const says = (_: never, { log, progress }: ToolContext): number => {
    for (const message of texts) {
      log(message, "warn");
      progress({ done: 1, total: 2, message });
    }
    return 1;
  };
  kernel.registerTrusted(toolOf(says));
  const logged: LogEntry[] = [];
  const told: Progress[] = [];
  await kernel.call("subject", {}, { onLog: (entry) => logged.push(entry), onProgress: (each) => told.push(each) });
  const cut = [texts[0], texts[0], `${"😀".repeat(999)}x\ufffd`];
  expect(logged).toEqual(cut.map((message) => ({ level: "warn", message })));
  expect(told).toEqual(cut.map((message) => ({ done: 1, total: 2, message })));
});

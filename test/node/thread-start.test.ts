import { expect, it } from "vitest";
import { openThread } from "../../packages/worker-host/src/node/thread-isolate.ts";

const open = (script: string, startTimeoutMs?: number) =>
  openThread("tool", "", { url: new URL(`data:text/javascript,${script}`), metered: false, startTimeoutMs }, new Set());

it.each<[string, string, number | undefined, RegExp]>([
  ["never answers", "setInterval(() => {}, 1000)", 50, /did not start: it did not answer within 50 ms\.$/],
  ["never yields", "for (;;);", 50, /did not start: it did not answer within 50 ms\.$/],
  ["throws", 'throw new Error("no settings")', undefined, /did not start: the thread failed: Error: no settings\.$/],
  ["ends", "process.exit()", undefined, /did not start: the thread ended\.$/],
])("a thread that %s instead of starting is lost, and its error names the cause", async (_, script, timeoutMs, why) => {
  await expect(open(script, timeoutMs)).rejects.toMatchObject({
    code: "ISOLATE_LOST",
    message: expect.stringMatching(why),
  });
});

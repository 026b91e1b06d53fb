import { createKernel } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";
import { openThread } from "../../packages/worker-host/src/node/thread-isolate.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openPolicy, toolOf } from "../support/kernel.ts";
import { packed } from "../support/module-host.ts";
import { settled } from "../support/turns.ts";

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

it("a module that spins while it loads is answered at the deadline of its call, before that of its load", async () => {
  const tool = packed(
    toolOf(() => 1),
    "for (;;);",
  );
  const clock = new FakeClock();
  const kernel = await createKernel({ host: nodeHost({ trusted: [tool.hash] }), policy: openPolicy, clock });
  kernel.register(tool);
  const answer = kernel.call("subject", {}, { bounds: { timeoutMs: 1_000 } });
  await settled();
  await clock.advance(1_000);
  expect(await answer).toMatchObject({
    error: { code: "TIMEOUT", details: { timeoutMs: 1_000, waitedMs: expect.any(Number) } },
  });
  await kernel.close();
});

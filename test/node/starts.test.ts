import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { openThread } from "../../packages/worker-host/src/node/thread-isolate.ts";

it("a thread that cannot be made keeps nobody from starting", async () => {
  // As where the system has no thread to give: the constructor throws.
  const script = { url: new URL("data:text/javascript,"), workerData: () => {}, metered: false };
  for (let i = 0; i <= availableParallelism(); i++)
    await expect(openThread("tool", "", script, new Set())).rejects.toThrow("could not be cloned");
});

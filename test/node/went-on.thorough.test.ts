import { nodeHost } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";
import { callWith, moduleOf, quietPort } from "../browser/open.ts";

// Trusted code can import: it has timers, which a hardened realm has not.
const tool = moduleOf(`import { setTimeout } from "node:timers";
  export default { code: { execute: async () => (setTimeout(() => { for (;;); }, 0), 1) } };`);

it("ends a thread that spins between the calls of its tool, and says whose it was", async () => {
  const host = nodeHost({ trusted: [tool.hash] });
  const isolate = await host.open(tool);
  const { promise: wentOn, resolve } = Promise.withResolvers<void>();
  isolate.watch?.(resolve);
  expect(await isolate.call(callWith(), quietPort)).toMatchObject({ kind: "returned" });
  await wentOn;
  expect(isolate.alive).toBe(false);
  await host.close();
});

import { interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { testEngine } from "./engine.ts";
import { callOf } from "./run-body.ts";
import { type SuspendedOnNode, textOf, waitingPort, waitingTool } from "./waiting-call.ts";

/** Run by Vite's own Node. */
export default async function suspendOnNode(): Promise<SuspendedOnNode> {
  const host = interpreterHost({ engine: await testEngine() });
  const port = waitingPort();
  const whole = await host.open(waitingTool);
  const call = callOf();
  const outcome = await whole.call(call, port);
  const isolate = await host.open(waitingTool);
  const waiting = waitingPort(0);
  void isolate.call(call, waiting);
  await waiting.untilAsked(2);
  const bytes = await isolate.suspend?.();
  if (!bytes) throw new Error("it cannot be suspended");
  return {
    snapshot: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")),
    snapshotKind: (await host.snapshotKind?.()) ?? "",
    call,
    whole: { outcome, usage: port.usage(), asked: port.asked.map(textOf), logs: port.logs },
  };
}

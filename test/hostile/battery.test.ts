import { nodeHost } from "@keyhole/worker-host/node";
import { inject } from "vitest";
import { moduleOf } from "../browser/open.ts";
import { describeBattery } from "./battery/describe.ts";
import type { Bench } from "./battery/room.ts";

/** A thread's tool can always speak for its shell: it is the thread's own port. */
const usurper = (deed: string): string => `
  import { parentPort } from "node:worker_threads";
  const send = (message, transfer) => parentPort.postMessage(message, transfer);
  export default { code: { async execute(_, { callId }) {
    try { await (async () => { ${deed} })(); } catch { send("refused"); }
    await new Promise(() => {});
  } } };`;

const open: Bench["open"] = (code) => nodeHost({ trusted: [code] }).open(moduleOf(code));

describeBattery(
  () => ({ platform: "node", canary: inject("canary"), open, usurp: (deed) => open(usurper(deed)) }),
  "node",
);

// A kernel that serves tools over NATS in a process of its own, so that a test can kill it. What runs is appended to a file that outlives it.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { natsBus, sealedCallers, serveOnBus } from "@keyhole/bus";
import { createKernel, defineTool } from "@keyhole/kernel";
import { fileSink } from "@keyhole/worker-host/node/file-sink";
import { headers } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";

export interface KernelErrand {
  readonly url: string;
  readonly folder: string;
  readonly index: number;
  readonly of: number;
  /** Credentials `c0`, `c1`, …; the key of `cN` is 32 bytes of N + 1. */
  readonly callers: number;
}

const { url, folder, index, of, callers } = JSON.parse(process.argv[2]!) as KernelErrand;
const deeds = join(folder, "deeds");
const kernel = await createKernel({
  policy: { version: "1", posture: "permissive" },
  sink: fileSink(join(folder, `log-${index}.jsonl`), { fsync: "never" }),
});
const input = { type: "object", properties: { id: { type: "string" } }, required: ["id"] } as const;
const common = { version: "1.0.0", determinism: "external", input, output: { kind: "text" } } as const;
const tools = [
  defineTool({
    ...common,
    name: "pay",
    description: "Pays, and writes that it did.",
    bounds: { concurrency: 64 },
    execute({ id }) {
      appendFileSync(deeds, `${id}\n`);
      return `paid ${id}`;
    },
  }),
  defineTool({
    ...common,
    name: "die",
    description: "Pays, and takes its kernel with it.",
    execute({ id }) {
      appendFileSync(deeds, `${id}\n`);
      process.kill(process.pid, "SIGKILL");
      return "never";
    },
  }),
];
for (const tool of tools) kernel.registerTrusted(tool);
const connection = await connect({
  servers: url,
  maxReconnectAttempts: -1,
  reconnectTimeWait: 20,
  reconnectJitter: 10,
});
const pairs = Array.from(
  { length: callers },
  (_, at) => [{ id: `c${at}`, key: new Uint8Array(32).fill(at + 1) }, { caller: `caller-${at}` }] as const,
);
await serveOnBus(kernel, natsBus(connection, headers), { callers: sealedCallers(pairs), keys: { index, of } });
process.stdout.write("serves\n");

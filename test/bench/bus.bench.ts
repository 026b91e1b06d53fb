// One call over the bus beside one bare request and reply over the same server. They take turns of a hundred, so that the machine is the same for both, and each is as warm as in a
// program that does nothing else. Both kernels, as both ends of the bare request, are in this process: the ratio holds all that the call costs on both sides.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { busSource, everyCaller, natsBus, serveOnBus } from "@keyhole/bus";
import { createKernel, defineTool } from "@keyhole/kernel";
import { headers } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { findNatsServer } from "../../scripts/engines.mjs";

const [turns, each, warm] = [30, 100, 10];
const port = 24_222;
const path = findNatsServer();
if (path === undefined) throw new Error("There is no nats-server. On Debian: apt-get install nats-server.");
const server = spawn(path, ["-a", "127.0.0.1", "-p", String(port)], { stdio: ["ignore", "ignore", "pipe"] });
await once(server.stderr, "data");
server.stderr.resume();

const open = () => connect({ servers: `nats://127.0.0.1:${port}`, reconnectTimeWait: 20, waitOnFirstConnect: true });
const policy = { version: "1", posture: "permissive" } as const;
const [far, near] = [await createKernel({ policy }), await createKernel({ policy })];
far.registerTrusted(
  defineTool({
    name: "echo",
    version: "1.0.0",
    description: "Echoes.",
    determinism: "external",
    input: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    output: { kind: "json" },
    execute: ({ message }) => ({ message }),
  }),
);
const [serving, calling] = [await open(), await open()];
await serveOnBus(far, natsBus(serving, headers), { callers: everyCaller({ caller: "bench" }) });
const options = { name: "far", expect: ["echo"], callsPerHour: 1_000_000 };
await busSource(near, natsBus(calling, headers), options);
serving.subscribe("bare", { callback: (_, message) => void message.respond(message.data) });
await serving.flush();

const body = new TextEncoder().encode('{"message":"hello"}');
const called = async (kernel: typeof far, tool: string): Promise<void> => {
  const result = await kernel.call(tool, { message: "hello" });
  if (!result.ok) throw new Error(result.error.message);
};
const works = {
  "bare request and reply": () => calling.request("bare", body, { timeout: 5_000 }),
  "call over the bus": () => called(near, "far_echo"),
  "the same call in its own kernel": () => called(far, "echo"),
};
const times = new Map<string, number[]>(Object.keys(works).map((name) => [name, []]));
for (let turn = 0; turn < turns + warm; turn++)
  for (const [name, work] of Object.entries(works))
    for (let at = 0; at < each; at++) {
      const before = performance.now();
      await work();
      if (turn >= warm) times.get(name)?.push(performance.now() - before);
    }
const quantile = (name: string, q: number): number => {
  const all = times.get(name)!.toSorted((a, b) => a - b);
  return all[Math.floor(all.length * q)]! * 1_000;
};
const [bare] = Object.keys(works) as [string];
for (const name of times.keys()) {
  const [p50, p99] = [quantile(name, 0.5), quantile(name, 0.99)];
  const ratio = p50 / quantile(bare, 0.5);
  console.log(`${name.padEnd(32)} p50 ${p50.toFixed(0)} µs, ${ratio.toFixed(2)} × bare; p99 ${p99.toFixed(0)} µs`);
}
await Promise.all([serving.close(), calling.close()]);
await Promise.all([far.close(), near.close()]);
server.kill();

/** What calls allocate, and what of it a minor collection keeps. The test beside it starts this in a process of its own. */
import { type AuditSink, type Broker, createKernel, defineTool } from "@keyhole/kernel";
import { netRead } from "@keyhole/kernel/families";

const collect = (globalThis as unknown as { gc: (options?: { type: "minor" }) => void }).gc;

/** Keeps nothing: the events in a memory log survive rightly. */
const sink: AuditSink = {
  open: () => ({ last: undefined, cutBytes: 0, damage: null }),
  append: () => {},
  read: () => [],
};

const broker: Broker = {
  families: [netRead],
  needs: ({ arguments: { url } }) => {
    const { hostname: host, pathname: path } = new URL(String(url));
    return { ok: true, needs: [{ kind: "net.read", method: "GET", host, isPublic: true, port: 443, path }] };
  },
  serve: async () => ({ ok: true, value: { url: "https://api.example.com/", status: 200, headers: [] } }),
};

const grants = [{ tool: "asking", capability: { kind: "net.read", hosts: ["api.example.com"] } }];
const kernel = await createKernel({
  sink,
  policy: { version: "1", posture: "standard", grants },
  brokers: [broker],
});
const shared = {
  version: "1.0.0",
  description: "A tool.",
  input: { type: "object" },
  output: { kind: "json" },
} as const;
const tools = [
  defineTool({ ...shared, name: "small", execute: (given) => given as never }),
  defineTool({ ...shared, name: "large", execute: (given) => given as never }),
  defineTool({
    ...shared,
    name: "asking",
    effects: ["net.read"],
    determinism: "external",
    capabilities: [{ kind: "net.read", hosts: ["*"] }],
    execute: async (_, { fetch }) => (await fetch("https://api.example.com/issues/7")).status,
  }),
];
for (const tool of tools) {
  const registered = kernel.registerTrusted(tool);
  if (!registered.ok) throw new Error(registered.error.message);
}
const row = (id: number): unknown => ({ id, name: `row ${id}`, tags: ["one", "two", "three"], open: id % 2 === 0 });
/** So many calls allocate less than a young generation of 128 MB: no collection comes in between. */
const shapes = [
  { name: "small", input: { id: 7 }, calls: 500 },
  { name: "asking", input: {}, calls: 500 },
  { name: "large", input: { rows: Array.from({ length: 150 }, (_, id) => row(id)) }, calls: 100 },
];

async function callTimes(name: string, input: unknown, times: number): Promise<void> {
  for (let at = 0; at < times; at++) {
    const result = await kernel.call(name, input, { sessionId: "s", caller: "ada" });
    if (!result.ok) throw new Error(result.error.message);
    // Timers get their turn, as in any program.
    if (at % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

const figures: unknown[] = [];
for (const { name, input, calls } of shapes) {
  await callTimes(name, input, calls * 2);
  collect();
  collect({ type: "minor" });
  const before = process.memoryUsage().heapUsed;
  await callTimes(name, input, calls);
  const allocated = process.memoryUsage().heapUsed - before;
  collect({ type: "minor" });
  const survived = process.memoryUsage().heapUsed - before;
  figures.push({ name, bytesPerCall: Math.round(allocated / calls), survivors: survived / allocated });
}
process.stdout.write(JSON.stringify(figures));
await kernel.close();

// One call through the whole pipeline (inline echo, memory log, all events) against one MCP SDK in-memory tool call, in one process.
import { Session } from "node:inspector/promises";
import { blake3Hash, createKernel, defineTool, type Proof } from "@keyhole/kernel";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { byProcessor, processorMs } from "../../bench/processor.ts";

const rounds = 15;
const callsPerRound = 2_000;
const input = { message: "hello, world", count: 3, tags: ["a", "b"] };

const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
const schema = {
  type: "object",
  properties: {
    message: { type: "string" },
    count: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["message", "count", "tags"],
  additionalProperties: false,
} as const;
const registered = kernel.registerTrusted(
  defineTool({
    name: "echo",
    version: "1.0.0",
    description: "Returns its input.",
    bounds: { callsPerHour: 1_000_000 },
    input: schema,
    output: { kind: "json", schema },
    execute: (given) => given,
  }),
);
if (!registered.ok) throw new Error(registered.error.message);

const shape = { message: z.string(), count: z.number().int(), tags: z.array(z.string()) };
const server = new McpServer({ name: "bench", version: "1.0.0" });
server.registerTool("echo", { inputSchema: shape, outputSchema: shape }, (given) => ({
  content: [{ type: "text", text: JSON.stringify(given) }],
  structuredContent: given,
}));
const client = new Client({ name: "bench", version: "1.0.0" });
const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
await client.listTools();

const subjects = {
  keyhole: async () => {
    const result = await kernel.call("echo", input, { sessionId: "bench", caller: "bench" });
    if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  },
  mcp: async () => {
    const result = await client.callTool({ name: "echo", arguments: input });
    if (result.structuredContent === undefined) throw new Error("no result");
  },
};

async function microsecondsPerCall(subject: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  for (let i = 0; i < callsPerRound; i++) await subject();
  return ((performance.now() - startMs) * 1_000) / callsPerRound;
}

const figures: Record<keyof typeof subjects, number[]> = { keyhole: [], mcp: [] };
const processor: typeof figures = { keyhole: [], mcp: [] };
for (let round = 0; round < rounds + 3; round++) {
  for (const name of ["keyhole", "mcp"] as const) {
    const startMs = processorMs();
    const figure = await microsecondsPerCall(subjects[name]);
    if (round < 3) continue;
    figures[name].push(figure);
    processor[name].push(((processorMs() - startMs) * 1_000) / callsPerRound);
  }
}
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const [ours, theirs] = [median(figures.keyhole), median(figures.mcp)];
console.log(`keyhole, 12 steps        ${ours.toFixed(1)} µs a call`);
console.log(`MCP SDK, in memory       ${theirs.toFixed(1)} µs a call`);
for (const name of ["keyhole", "mcp"] as const)
  console.log(`${name.padEnd(24)} ${median(processor[name]).toFixed(1)} µs a call, ${byProcessor}`);
console.log(`ratio                    ${(ours / theirs).toFixed(2)} × (a direction, no bar)`);

// What no other way through the twelve steps could save: the digests of what a call leaves behind, over texts that lie there ready.
const { proof, callId } = await kernel.call("echo", input, { sessionId: "bench", caller: "bench" });
const events = (await kernel.audit.read()).filter((event) => event.callId === callId);
const texts = [JSON.stringify(input), JSON.stringify(input), ...[proof as Proof, ...events].map(bodyOf)];
const bytes = texts.map((text) => new TextEncoder().encode(text));

function bodyOf({ hash: _, ...body }: { readonly hash: string }): string {
  return JSON.stringify(body);
}

const sealing = Array.from({ length: rounds }, () => {
  const startMs = performance.now();
  for (let i = 0; i < callsPerRound; i++) for (const each of bytes) blake3Hash.bytes(each);
  return ((performance.now() - startMs) * 1_000) / callsPerRound;
});
const byteLength = bytes.reduce((sum, each) => sum + each.length, 0);
console.log(`of it digests            ${median(sealing).toFixed(1)} µs, of ${bytes.length} texts, ${byteLength} bytes`);
console.log(`profile                  ${await profileOf(subjects.keyhole)}`);
await client.close();
await kernel.close();

/** Where the time of a call goes, by folder of the kernel. */
async function profileOf(subject: () => Promise<void>): Promise<string> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 100 });
  await session.post("Profiler.start");
  for (let i = 0; i < callsPerRound * 3; i++) await subject();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  const folders = new Map<number, string>();
  for (const { id, callFrame } of profile.nodes) {
    const [, folder] = /packages\/kernel\/src\/([\w-]+)/.exec(callFrame.url) ?? [];
    folders.set(id, folder ?? (callFrame.functionName === "(garbage collector)" ? "garbage" : "engine and others"));
  }
  const times = new Map<string, number>();
  let wholeUs = 0;
  for (const [at, id] of (profile.samples ?? []).entries()) {
    const us = profile.timeDeltas?.[at] ?? 0;
    const folder = folders.get(id) ?? "engine and others";
    times.set(folder, (times.get(folder) ?? 0) + us);
    wholeUs += us;
  }
  const sorted = [...times].sort(([, a], [, b]) => b - a).slice(0, 10);
  return sorted.map(([folder, us]) => `${folder} ${Math.round((us / wholeUs) * 100)} %`).join(", ");
}

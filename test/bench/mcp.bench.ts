// What Keyhole adds to a call over MCP: our server beside the SDK's with a bare handler, a source beside a bare client, `keyhole wrap` beside the wrapped server alone.
// The lanes take turns in one run, because only their ratios mean something.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createKernel } from "@keyhole/kernel";
import { mcpSource } from "@keyhole/mcp";
import { mcpProcess } from "@keyhole/mcp/node";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { atMost } from "./bar.ts";

const turns = Number(process.env["KEYHOLE_BENCH_TURNS"] ?? 20);
const callsPerTurn = 50;
const root = fileURLToPath(new URL("../..", import.meta.url));
const flags = ["--conditions=keyhole-source", join(root, "test/bench/mcp-server.ts")];
const served = (whose: string): string[] => [...flags, whose, "stdio"];
const message = "hello, world";
const ends: (() => unknown)[] = [];

type Era = "2026-07-28" | "2025-11-25";
type Lane = () => Promise<unknown>;

async function laneOf(client: Client): Promise<Lane> {
  ends.push(() => client.close());
  await client.listTools();
  return async () => {
    const { isError } = await client.callTool({ name: "echo", arguments: { message } });
    if (isError === true) throw new Error("A call failed.");
  };
}

const newClient = (era: Era): Client =>
  new Client(
    { name: "bench", version: "1.0.0" },
    { versionNegotiation: { mode: era === "2026-07-28" ? { pin: era } : "legacy" } },
  );

async function overStdio(args: readonly string[], era: Era = "2025-11-25"): Promise<Lane> {
  const client = newClient(era);
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "inherit" }));
  return laneOf(client);
}

async function overHttp(whose: string, era: Era): Promise<Lane> {
  const child: ChildProcess = spawn(process.execPath, [...flags, whose, "http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  ends.push(() => child.kill());
  const [url] = (await once(child.stdout ?? child, "data")) as [Buffer];
  const client = newClient(era);
  await client.connect(new StreamableHTTPClientTransport(new URL(url.toString().trim())));
  return laneOf(client);
}

const policy = {
  version: "1",
  posture: "permissive",
  grants: [
    {
      tool: "*",
      capability: {
        kind: "process.spawn",
        commands: [{ command: "node", args: [{ prefix: "/" }, { rest: { prefix: "" } }] }],
      },
    },
  ],
} as const;

async function throughSource(): Promise<Lane> {
  const kernel = await createKernel({ policy });
  const server = mcpProcess({ command: process.execPath, args: served("sdk") });
  const source = await mcpSource(kernel, { name: "peer", server, era: "2025-11-25", callsPerHour: 1_000_000 });
  ends.push(() => source.close());
  return async () => {
    const result = await kernel.call("peer_echo", { message }, { caller: "bench", sessionId: "bench" });
    if (!result.ok) throw new Error(result.error.message);
  };
}

/** With its log in a file, as a person has it. */
function throughWrap(home: string, fsync: "batch" | "second"): Promise<Lane> {
  mkdirSync(home);
  writeFileSync(join(home, "policy.json"), JSON.stringify(policy));
  const cli = ["--import", join(root, "scripts/source.mjs"), join(root, "packages/keyhole/src/cli.ts")];
  return overStdio([
    ...cli,
    "wrap",
    "--name",
    "peer",
    "--home",
    home,
    "--fsync",
    fsync,
    "--",
    process.execPath,
    ...served("sdk"),
  ]);
}

/** The least that a process in between can cost. */
function copied(): Promise<Lane> {
  const copy = `const c = require("node:child_process").spawn(process.execPath, ${JSON.stringify(served("sdk"))}, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(c.stdin); c.stdout.pipe(process.stdout); process.stdin.on("end", () => c.kill());`;
  return overStdio(["-e", copy]);
}

/** What a call waits for at least where its start and its end are on the disk before it goes on. */
async function synced(path: string): Promise<Lane> {
  const file = await open(path, "a");
  ends.push(() => file.close());
  return async () => {
    for (let at = 0; at < 2; at++) {
      writeSync(file.fd, `${"x".repeat(800)}\n`);
      await file.datasync();
    }
  };
}

const home = mkdtempSync(join(tmpdir(), "keyhole-bench-"));
ends.push(() => rmSync(home, { recursive: true }));
const lanes = {
  "stdio: SDK's server": await overStdio(served("sdk")),
  "stdio: our server": await overStdio(served("keyhole")),
  "stdio: our source": await throughSource(),
  "stdio: a process that copies": await copied(),
  "stdio: keyhole wrap": await throughWrap(join(home, "batch"), "batch"),
  "stdio: wrap --fsync second": await throughWrap(join(home, "second"), "second"),
  "two fdatasyncs of a line of a log": await synced(join(home, "line")),
  "HTTP 2026-07-28: SDK's server": await overHttp("sdk", "2026-07-28"),
  "HTTP 2026-07-28: our server": await overHttp("keyhole", "2026-07-28"),
  "HTTP 2025-11-25: SDK's server": await overHttp("sdk", "2025-11-25"),
  "HTTP 2025-11-25: our server": await overHttp("keyhole", "2025-11-25"),
} satisfies Record<string, Lane>;
type LaneName = keyof typeof lanes;

const times = new Map<string, number[]>();
for (let turn = -4; turn < turns; turn++)
  for (const [name, call] of Object.entries(lanes)) {
    const own = times.get(name) ?? [];
    for (let at = 0; at < callsPerTurn; at++) {
      const startMs = performance.now();
      await call();
      if (turn >= 0) own.push(performance.now() - startMs);
    }
    times.set(name, own);
  }

const median = (name: LaneName): number => {
  const own = (times.get(name) ?? []).toSorted((a, b) => a - b);
  return own[own.length >> 1] ?? Number.NaN;
};
const bars: readonly (readonly [LaneName, LaneName, number?])[] = [
  ["stdio: our server", "stdio: SDK's server", 1.7],
  ["stdio: our source", "stdio: SDK's server", 2],
  ["stdio: a process that copies", "stdio: SDK's server"],
  ["stdio: wrap --fsync second", "stdio: SDK's server", 3],
  ["stdio: keyhole wrap", "stdio: SDK's server"],
  ["two fdatasyncs of a line of a log", "stdio: SDK's server"],
  ["HTTP 2026-07-28: our server", "HTTP 2026-07-28: SDK's server", 1.5],
  ["HTTP 2025-11-25: our server", "HTTP 2025-11-25: SDK's server", 1.5],
];
for (const [name, base, bar] of bars) {
  const ratio = (median(name) / median(base)).toFixed(2);
  const held = bar === undefined ? "" : ` ${atMost(median(name) / median(base), bar)}`;
  console.log(`${name.padEnd(32)} p50 ${median(name).toFixed(3)} ms, ${ratio} × ${median(base).toFixed(3)} ms${held}`);
}
for (const end of ends.toReversed()) await end();

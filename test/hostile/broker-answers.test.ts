import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createKernel, defineTool, type Kernel } from "@keyhole/kernel";
import { dbBroker } from "@keyhole/worker-host/brokers/db";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { nodeDatabase, type NodeDatabase, nodeStore } from "@keyhole/worker-host/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { granting } from "../support/kernel.ts";

/*
 * What a broker meets in the world is bad input as well. Each row ends with a code and an entry in the journal, and the kernel serves the next call.
 */

const asker = defineTool({
  name: "asker",
  version: "1.0.0",
  description: "Asks for one thing.",
  effects: ["net.read", "fs.read", "db.read"],
  determinism: "external",
  capabilities: [
    { kind: "net.read", hosts: ["*"] },
    { kind: "fs.read", paths: ["**"], fileBytes: 100_000 },
    { kind: "db.read", databases: ["*"] },
  ],
  bounds: { networkBytes: 1 << 20, timeoutMs: 120_000, outputBytes: 4 << 20 },
  input: { type: "object", properties: { url: { type: "string" }, path: { type: "string" }, sql: { type: "string" } } },
  output: { kind: "json" },
  async execute({ url, path, sql }, { fetch, files, db }) {
    if (url !== undefined) return { length: (await (await fetch(url)).arrayBuffer()).byteLength };
    if (path !== undefined) return { length: (await files.read(path)).length };
    return { rows: (await db("main").query(sql ?? "")).rows.length };
  },
});

const root = mkdtempSync(join(tmpdir(), "keyhole-answers-"));
let server: Server;
let origin: string;
let database: NodeDatabase;
let kernel: Kernel;

/** Answers with exactly these bytes, whatever was asked. */
const answers = new Map<string, (socket: Socket) => void>();

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (head: Buffer) => {
      const path = head.toString("latin1").split(" ")[1] ?? "/";
      (
        answers.get(path) ??
        ((each: Socket) => each.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"))
      )(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  database = nodeDatabase(join(root, "main.db"));
});
afterAll(() => {
  server.close();
  database.close();
  rmSync(root, { recursive: true });
});

beforeEach(async () => {
  answers.clear();
  kernel = await openAsker(1_000);
});

/** @param timeMs how long a statement may take */
async function openAsker(timeMs: number): Promise<Kernel> {
  const port = (server.address() as AddressInfo).port;
  const opened = await createKernel({
    brokers: [netBroker(), filesBroker(nodeStore(root)), dbBroker({ main: database }, { timeMs })],
    policy: granting(
      { kind: "net.read", hosts: ["127.0.0.1"], ports: [port] },
      { kind: "fs.read", paths: ["**"] },
      { kind: "db.read", databases: ["main"] },
    ),
  });
  opened.registerTrusted(asker);
  return opened;
}
afterEach(() => kernel.close());

/** The code of a call, after which the journal has its request, the log its end, and the kernel an answer for the next. */
async function codeOf(input: {
  readonly url?: string;
  readonly path?: string;
  readonly sql?: string;
}): Promise<string> {
  const result = await kernel.call("asker", input);
  const events = (await kernel.audit.read()).filter(({ callId }) => callId === result.callId);
  expect(events.map(({ type }) => type)).toContain("capability.used");
  expect(events.at(-1)?.type).toBe(result.ok ? "tool.completed" : "tool.failed");
  expect(await kernel.call("asker", { url: `${origin}/fine` })).toMatchObject({ ok: true, data: { length: 2 } });
  return result.ok ? "ok" : result.error.code;
}

describe("a server that answers with", () => {
  const zeros = gzipSync(new Uint8Array(64 << 20));
  const head = (...lines: string[]): string => ["HTTP/1.1 200 OK", "connection: close", ...lines, "", ""].join("\r\n");
  it.each<[string, (socket: Socket) => void, string]>([
    ["no HTTP at all", (socket) => socket.end("\u0000\u0001\u0002 garbage\r\n\r\n"), "TOOL_ERROR"],
    ["nothing", (socket) => socket.end(), "TOOL_ERROR"],
    ["a status that is none", (socket) => socket.end("HTTP/1.1 999 Odd\r\nconnection: close\r\n\r\n"), "TOOL_ERROR"],
    ["less than its content-length", (socket) => socket.end(`${head("content-length: 1000")}short`), "TOOL_ERROR"],
    [
      "more than its content-length",
      (socket) => socket.end(`${head("content-length: 2")}okand more that nobody asked for`),
      "ok",
    ],
    [
      "two lengths that differ",
      (socket) => socket.end(`${head("content-length: 2", "content-length: 3")}ok`),
      "TOOL_ERROR",
    ],
    ["chunks that are none", (socket) => socket.end(`${head("transfer-encoding: chunked")}zz\r\nno\r\n`), "TOOL_ERROR"],
    [
      "chunks without an end",
      (socket) => socket.end(`${head("transfer-encoding: chunked")}5\r\nhello\r\n`),
      "TOOL_ERROR",
    ],
    [
      "gzip that is none",
      (socket) => socket.end(`${head("content-encoding: gzip", "content-length: 4")}nope`),
      "TOOL_ERROR",
    ],
    [
      "a gzip bomb",
      (socket) =>
        void (socket.write(head("content-encoding: gzip", `content-length: ${zeros.length}`)), socket.end(zeros)),
      "BOUNDS_EXCEEDED",
    ],
    [
      "a body without end",
      (socket) => {
        socket.write(head("content-type: text/plain"));
        const more = (): void => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
        };
        socket.on("drain", more);
        more();
      },
      "BOUNDS_EXCEEDED",
    ],
    ["headers without end", (socket) => socket.end(head("x: ".padEnd(400_000, "y"))), "TOOL_ERROR"],
    [
      "a redirect to itself",
      (socket) => socket.end("HTTP/1.1 302 Found\r\nlocation: /it\r\nconnection: close\r\n\r\n"),
      "TOOL_ERROR",
    ],
    [
      "bytes that are no UTF-8",
      (socket) =>
        void (socket.write(head("content-type: text/plain; charset=utf-8", "content-length: 3")),
        socket.end(Buffer.from([0xff, 0xfe, 0x80]))),
      "ok",
    ],
  ])("%s", async (_, answer, code) => {
    answers.set("/it", answer);
    expect(await codeOf({ url: `${origin}/it` })).toBe(code);
  });
});

describe("a database", () => {
  it.each([
    [
      "whose statement does not end",
      "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
      "BOUNDS_EXCEEDED",
    ],
    [
      "that needs all memory",
      "SELECT length(group_concat(hex(randomblob(1000000)))) FROM (WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n)",
      "BOUNDS_EXCEEDED",
    ],
    [
      "that answers too much",
      "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
      "BOUNDS_EXCEEDED",
    ],
  ])("%s", async (_, sql, code) => {
    expect(await codeOf({ sql })).toBe(code);
    // A busy machine may take longer for this one than the others are given.
    const patient = await openAsker(120_000);
    expect(await patient.call("asker", { sql: "SELECT 1" })).toMatchObject({ ok: true, data: { rows: 1 } });
  });
});

it("a file that changes while it is read is one of its states, or a refusal, and never larger than it may be", async () => {
  const path = join(root, "changing");
  writeFileSync(path, "x".repeat(50_000));
  let round = 0;
  const change = setInterval(() => {
    if (round++ % 2 === 0) truncateSync(path, 10);
    else writeFileSync(path, "y".repeat(60_000));
  }, 0);
  try {
    for (let i = 0; i < 50; i++) {
      const result = await kernel.call("asker", { path: "changing" });
      if (result.ok) expect((result.data as { length: number }).length).toBeLessThanOrEqual(100_000);
      else expect(result.error.code).toBe("TOOL_ERROR");
    }
  } finally {
    clearInterval(change);
  }
  expect(await codeOf({ path: "changing" })).toBe("ok");
});

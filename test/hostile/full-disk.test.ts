import { execFileSync } from "node:child_process";
import { createReadStream, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, defineTool, type Kernel } from "@keyhole/kernel";
import { lines, verifyAudit } from "@keyhole/kernel/audit";
import { dbBroker } from "@keyhole/worker-host/brokers/db";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { kvBroker } from "@keyhole/worker-host/brokers/kv";
import { fileSink, nodeDatabase, type NodeDatabase, nodeKv, type NodeKv, nodeStore } from "@keyhole/worker-host/node";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { echo, openPolicy } from "../support/kernel.ts";

/*
 * A disk that is really full: a small file system of its own, which only root can make. Elsewhere the rest of the suite holds the stores against errors
 * that are put in their place.
 */

const diskBytes = 8 << 20;
const root = mkdtempSync(join(tmpdir(), "keyhole-disk-"));

function mounted(): boolean {
  if (process.platform !== "linux") return false;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskBytes}`, "tmpfs", root], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
const hasDisk = mounted();
afterAll(() => {
  if (hasDisk) execFileSync("umount", ["-l", root]);
  rmSync(root, { recursive: true, force: true });
});

const filler = join(root, "filler");

/** Takes all that is left, but for so many bytes. */
function fill(leftBytes = 0): void {
  rmSync(filler, { force: true });
  const { bavail, bsize } = statfsSync(root);
  writeFileSync(filler, new Uint8Array(Math.max(0, bavail * bsize - leftBytes)));
}
const free = (): void => rmSync(filler, { force: true });

const everything = (): readonly string[] =>
  readdirSync(join(root, "files"), { recursive: true, encoding: "utf8" }).toSorted((a, b) => (a < b ? -1 : 1));

const writer = defineTool({
  name: "writer",
  version: "1.0.0",
  description: "Writes one thing.",
  effects: ["fs.write", "fs.read", "kv.write", "db.write"],
  determinism: "external",
  capabilities: [
    { kind: "fs.write", paths: ["**"] },
    { kind: "fs.read", paths: ["**"] },
    { kind: "kv.write", keys: ["*"] },
    { kind: "db.write", databases: ["*"], statements: ["insert", "create"] },
  ],
  input: {
    type: "object",
    properties: { to: { type: "string" }, key: { type: "string" } },
    required: ["to", "key"],
    additionalProperties: false,
  } as const,
  output: { kind: "json" },
  async execute({ to, key }, { files, kv, db }) {
    const data = new Uint8Array(300_000).fill(7);
    if (to === "kv") await kv.put(key, data);
    else if (to === "db") await db("main").run("INSERT INTO t VALUES (randomblob(300000))");
    else await files.write(`${key}/${to}`, data);
    return null;
  },
});

describe.skipIf(!hasDisk)("a disk that is full", () => {
  let kernel: Kernel;
  let values: NodeKv;
  let database: NodeDatabase;
  beforeAll(async () => {
    mkdirSync(join(root, "files"));
    values = nodeKv(join(root, "values.kv"));
    database = nodeDatabase(join(root, "main.db"));
    kernel = await createKernel({
      brokers: [filesBroker(nodeStore(join(root, "files"))), kvBroker(values), dbBroker({ main: database })],
      policy: {
        version: "1",
        posture: "permissive",
        grants: writer.definition.capabilities?.map((capability) => ({ tool: "writer", capability })),
      },
    });
    kernel.registerTrusted(writer);
    const signal = new AbortController().signal;
    const limits = { rows: 1, bytes: 1_000, timeMs: 120_000 };
    await database.run({ sql: "CREATE TABLE t (x BLOB)", params: [], kinds: ["create"] }, limits, signal);
  });
  afterAll(async () => {
    await kernel.close();
    values.close();
    database.close();
  });
  beforeEach(free);

  it.each(["file", "folder/in/folder/file", "kv", "db"])(
    "fails what writes to it, %s, by code and event; and serves again when it is not",
    async (to) => {
      expect(await kernel.call("writer", { to, key: "first" })).toMatchObject({ ok: true });
      fill();
      const before = everything();
      const result = await kernel.call("writer", { to, key: "second" });
      expect(result).toMatchObject({
        ok: false,
        error: { code: "TOOL_ERROR", message: expect.stringMatching(/full/) as string },
      });
      const events = (await kernel.audit.read()).filter(({ callId }) => callId === result.callId);
      expect(events.find(({ type }) => type === "capability.used")?.payload).toMatchObject({ outcome: "failed" });
      expect(events.at(-1)).toMatchObject({ type: "tool.failed", payload: { code: "TOOL_ERROR" } });
      // No part of a file is left, and no folder that nothing is in.
      expect(everything()).toEqual(before);
      free();
      expect(await kernel.call("writer", { to, key: "second" })).toMatchObject({ ok: true });
    },
  );

  it("under the log: nothing runs without a record, and the next kernel goes on at its last whole event", async () => {
    const path = join(root, "log.jsonl");
    const sink = fileSink(path);
    const logging = await createKernel({ sink, policy: openPolicy });
    logging.registerTrusted(echo);
    expect(await logging.call("echo", { message: "one" })).toMatchObject({ ok: true });
    fill(4_096);
    let failed: unknown;
    for (let i = 0; i < 200 && failed === undefined; i++) {
      const result = await logging.call("echo", { message: "more" });
      if (!result.ok) failed = result.error.code;
    }
    expect(failed).toBe("AUDIT_UNAVAILABLE");
    free();
    // It said that nothing more will be kept, and stays with it.
    expect(await logging.call("echo", { message: "again" })).toMatchObject({ error: { code: "AUDIT_UNAVAILABLE" } });
    await logging.close();
    await sink.close();

    const again = fileSink(path);
    const next = await createKernel({ sink: again, policy: openPolicy });
    next.registerTrusted(echo);
    expect(next.mode).toBe("NORMAL");
    expect(await next.call("echo", { message: "two" })).toMatchObject({ ok: true });
    await next.close();
    await again.close();
    const stream = Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>;
    expect(await verifyAudit(lines(stream))).toMatchObject({ verdict: "unvouched" });
  });
});

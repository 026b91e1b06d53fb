import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  Capability,
  BrokerReply,
  CapabilityRequest,
  JsonObject,
  JsonValue,
  StatementKind,
  ToolContext,
} from "@keyhole/kernel";
import { dbBroker, type SqlDatabase, type SqlFault, type SqlStatement } from "@keyhole/worker-host/brokers/db";
import { nodeDatabase } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { openSession, type SessionOptions } from "./session.ts";

const root = mkdtempSync(join(tmpdir(), "keyhole-db-broker-"));
const main = nodeDatabase(join(root, "main.db"));
const limits = { rows: 5, bytes: 1_000, timeMs: 120_000 };
const broker = dbBroker({ main }, limits);
afterAll(() => {
  main.close();
  rmSync(root, { recursive: true });
});

function requestOf(operation: string, args: JsonObject): CapabilityRequest {
  return { kind: operation === "run" ? "db.write" : "db.read", operation, arguments: { database: "main", ...args } };
}
const query = (sql: string, params: JsonValue[] = [], options?: SessionOptions): Promise<BrokerReply> =>
  broker.serve(requestOf("query", { sql, params }), openSession(options));
const run = (sql: string, params: JsonValue[] = []): Promise<BrokerReply> =>
  broker.serve(requestOf("run", { sql, params }), openSession());

beforeAll(async () => {
  await run("CREATE TABLE t (id INTEGER PRIMARY KEY, a)");
});

it("answers rows as JSON, and what JSON does not have as objects with one member", async () => {
  expect(
    await query(
      "SELECT 1, 1.5, 'é', NULL, x'00ff', 9007199254740991, 9007199254740992, -9223372036854775807 - 1, 9e999, -9e999",
    ),
  ).toEqual({
    ok: true,
    value: {
      columns: expect.any(Array) as unknown,
      rows: [
        [
          1,
          1.5,
          "é",
          null,
          { base64: "AP8=" },
          9007199254740991,
          { integer: "9007199254740992" },
          { integer: "-9223372036854775808" },
          { real: "Infinity" },
          { real: "-Infinity" },
        ],
      ],
    },
  });
});

it("takes parameters in the forms in which it answers", async () => {
  const params: JsonValue[] = [
    true,
    false,
    1,
    1.5,
    "text",
    null,
    { base64: "AP8=" },
    { integer: "9223372036854775807" },
    { real: "Infinity" },
  ];
  expect(await query("SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?", params)).toMatchObject({
    ok: true,
    value: { rows: [[1, 0, ...params.slice(2)]] },
  });
  expect(await query("SELECT typeof(?), typeof(?), typeof(?)", [1, 1.5, { base64: "" }])).toMatchObject({
    ok: true,
    value: { rows: [["integer", "real", "blob"]] },
  });
});

it("says what changed", async () => {
  expect(await run("INSERT INTO t VALUES (?, 'x')", [{ integer: "9007199254740993" }])).toEqual({
    ok: true,
    value: { changes: 1, lastInsertRowId: { integer: "9007199254740993" } },
  });
  expect(await run("DELETE FROM t")).toMatchObject({ ok: true, value: { changes: 1 } });
});

it("says what a request needs", () => {
  expect(broker.needs(requestOf("query", { sql: "SELECT 1" }))).toEqual({
    ok: true,
    needs: [{ kind: "db.read", database: "main", statements: ["select"] }],
  });
  expect(broker.needs(requestOf("run", { sql: "INSERT OR REPLACE INTO t VALUES (1, 2)" }))).toMatchObject({
    ok: true,
    needs: [{ kind: "db.write", statements: ["delete", "insert"] }],
  });
});

it("asks for db.read as well, where a change reads", async () => {
  const sql = "UPDATE t SET a = 1 WHERE id = 0";
  expect(broker.needs(requestOf("run", { sql }))).toEqual({
    ok: true,
    needs: [
      { kind: "db.write", database: "main", statements: ["update"] },
      { kind: "db.read", database: "main", statements: ["select"] },
    ],
  });
  const [writes, reads] = [
    { kind: "db.write", databases: ["main"] } as const,
    { kind: "db.read", databases: ["main"] } as const,
  ];
  const called = async (grants: readonly Capability[]) => {
    const policy = {
      version: "1",
      posture: "permissive",
      grants: grants.map((capability) => ({ tool: "*", capability })),
    };
    const { kernel } = await openKernel({ policy, brokers: [broker] });
    const capabilities = [writes, { ...reads, optional: true }];
    const more = { capabilities, effects: ["db.read", "db.write"], determinism: "external" };
    kernel.registerTrusted(toolOf((_: unknown, { db }: ToolContext) => db("main").run(sql), more));
    return kernel.call("subject", {});
  };
  expect(await called([writes])).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" }, effects: [] });
  expect(await called([writes, reads])).toMatchObject({ ok: true, effects: ["db.read", "db.write"] });
});

it("asks the grant for what the database alone knows, and does not begin without it", async () => {
  const asked: SqlStatement[] = [];
  const database: SqlDatabase = {
    query: () => Promise.reject(new Error("nothing is queried")),
    async run(statement) {
      asked.push(statement);
      return statement.kinds.includes("delete")
        ? { ok: true, value: { changes: 1, lastInsertRowId: 1 } }
        : { ok: false, fault: { reason: "denied", message: "", needs: ["delete"] } };
    },
  };
  const serve = (statements: readonly StatementKind[]) =>
    dbBroker({ main: database }).serve(
      requestOf("run", { sql: "INSERT INTO t VALUES (1, 2)" }),
      openSession({ grants: [{ kind: "db.write", databases: ["main"], statements }] }),
    );
  expect(await serve(["insert"])).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
  expect(asked.map(({ kinds, target }) => [kinds, target])).toEqual([[["insert"], "T"]]);
  expect(await serve(["insert", "delete"])).toMatchObject({ ok: true, value: { changes: 1 } });
  expect(asked.at(-1)).toMatchObject({ kinds: ["delete", "insert"], target: "T" });
});

describe("is refused before a database sees it", () => {
  it.each([
    ["query", { sql: 1 }],
    ["query", {}],
    ["query", { sql: "" }],
    ["query", { sql: "SELECT 1; DROP TABLE t" }],
    ["query", { sql: "DELETE FROM t" }],
    ["query", { sql: "WITH a AS (SELECT 1) DELETE FROM t" }],
    ["run", { sql: "SELECT 1" }],
    ["run", { sql: "ATTACH 'x' AS y" }],
    ["run", { sql: "PRAGMA writable_schema = on" }],
    ["query", { sql: "/**/PRAGMA/**/table_info(t)" }],
    ["run", { sql: "VACUUM INTO 'x'" }],
    ["run", { sql: "BEGIN" }],
    ["query", { sql: "SELECT 1\u0000; DROP TABLE t" }],
    ["query", { sql: `SELECT '${"x".repeat(100_000)}'` }],
    ["query", { sql: "SELECT 1", database: "../main" }],
    ["query", { sql: "SELECT 1", database: "" }],
    ["query", { sql: "SELECT 1", database: 1 }],
    ["query", { sql: "SELECT 1", params: {} }],
    ["query", { sql: "SELECT 1", params: Array(101).fill(1) }],
    ["query", { sql: "SELECT ?", params: [[1]] }],
    ["query", { sql: "SELECT ?", params: [{}] }],
    ["query", { sql: "SELECT ?", params: [{ base64: "?" }] }],
    ["query", { sql: "SELECT ?", params: [{ base64: 1 }] }],
    ["query", { sql: "SELECT ?", params: [{ base64: "", integer: "1" }] }],
    ["query", { sql: "SELECT ?", params: [{ integer: "9223372036854775808" }] }],
    ["query", { sql: "SELECT ?", params: [{ integer: "0x10" }] }],
    ["query", { sql: "SELECT ?", params: [{ integer: "" }] }],
    ["query", { sql: "SELECT ?", params: [{ real: "NaN" }] }],
    ["exec", { sql: "SELECT 1" }],
    ["toString", { sql: "SELECT 1" }],
  ] as const)("%s of %j", async (operation, args) => {
    const request = requestOf(operation, args);
    expect(broker.needs(request)).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
    expect(await broker.serve(request, openSession())).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
  });
});

it.each(["other", "__proto__", "constructor"])(
  "knows no database but those that the host names: %s",
  async (database) => {
    const reply = await broker.serve(requestOf("query", { sql: "SELECT 1", database }), openSession());
    expect(reply).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  },
);

it("gives as many rows as the grant says, and no more than the host", async () => {
  const numbers = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ?) SELECT x FROM n";
  expect(await query(numbers, [3], { limit: 3 })).toMatchObject({ ok: true });
  expect(await query(numbers, [4], { limit: 3 })).toMatchObject({
    ok: false,
    error: { code: "BOUNDS_EXCEEDED" },
  });
  expect(await query(numbers, [5])).toMatchObject({ ok: true });
  expect(await query(numbers, [6])).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
});

it("adds the database's own words about a statement that it refuses", async () => {
  expect(await query("SELECT * FROM missing")).toMatchObject({
    ok: false,
    error: { code: "INVALID_REQUEST", message: expect.stringContaining("no such table: missing") as string },
  });
});

it("names no file of the host when the database cannot be used", async () => {
  const nowhere = dbBroker({ main: nodeDatabase(join(root, "no", "such", "folder.db")) });
  const reply = await nowhere.serve(requestOf("query", { sql: "SELECT 1" }), openSession());
  expect(reply).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
  expect(JSON.stringify(reply)).not.toContain("folder");
});

it("does nothing for a call that has ended", async () => {
  expect(await query("SELECT 1", [], { signal: AbortSignal.abort() })).toMatchObject({
    ok: false,
    error: { code: "CANCELLED" },
  });
});

describe("every fault of a database has a code, a message and a hint", () => {
  const faults: readonly [SqlFault["reason"], string, string, string][] = [
    ["rejected", "INVALID_REQUEST", "The database refuses the statement.", ""],
    [
      "denied",
      "CAPABILITY_DENIED",
      "The grant does not allow the statement.",
      "No statement may attach, change settings, or use triggers, temporary or virtual tables.",
    ],
    ["too-slow", "BOUNDS_EXCEEDED", "The statement took longer than 120000 ms.", "Narrow it, or add an index."],
    ["too-many-rows", "BOUNDS_EXCEEDED", "The answer has more than 5 rows.", "Add a LIMIT."],
    [
      "too-large",
      "BOUNDS_EXCEEDED",
      "The statement needs more memory, or its answer more than 1000 bytes.",
      "Name fewer columns, or add a LIMIT.",
    ],
    ["busy", "UNAVAILABLE", "Another connection is writing to the database.", "Try again."],
    ["no-space", "UNAVAILABLE", "The database is full.", "Remove data that you do not need."],
    ["cancelled", "CANCELLED", "The call ended before the statement did.", ""],
    ["broken", "UNAVAILABLE", "The database cannot be used.", "Try again later."],
  ];
  it.each(faults)("%s is %s: %s", async (reason, code, message, hint) => {
    const fault = async () => ({ ok: false, fault: { reason, message: "" } }) as const;
    const failing: SqlDatabase = { query: fault, run: fault };
    for (const [operation, sql] of [
      ["query", "SELECT 1"],
      ["run", "DELETE FROM t"],
    ] as const) {
      const reply = await dbBroker({ main: failing }, limits).serve(requestOf(operation, { sql }), openSession());
      expect(reply).toMatchObject({ ok: false, error: { code, message, hint } });
    }
  });
});

import type {
  Broker,
  Capability,
  CapabilityReply,
  CapabilityRequest,
  DeclaredCapability,
  Need,
  ToolContext,
} from "@keyhole/kernel";
import { dbRead, dbWrite, kvRead, kvWrite, processSpawn, toolCall } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

/** Serves every kind from one answer, and keeps what it was asked. */
function fakeBroker(
  reply: (request: CapabilityRequest) => CapabilityReply,
  needOf: (request: CapabilityRequest) => Need,
): Broker & { readonly asked: CapabilityRequest[] } {
  const asked: CapabilityRequest[] = [];
  return {
    asked,
    families: [dbRead, dbWrite, kvRead, kvWrite, processSpawn, toolCall],
    needs: (request) => ({ ok: true, needs: [needOf(request)] }),
    serve: async (request) => {
      asked.push(request);
      return reply(request);
    },
  };
}

const granted: readonly Capability[] = [
  { kind: "db.read", databases: ["notes"] },
  { kind: "db.write", databases: ["notes"] },
  { kind: "kv.read", keys: ["a/"] },
  { kind: "kv.write", keys: ["a/"] },
  { kind: "process.spawn", commands: [{ command: "git", args: ["log", { rest: { path: ["src/**"] } }] }] },
  { kind: "tool.call", tools: ["echo"] },
];
const effects = ["db.read", "db.write", "kv.read", "kv.write", "process.spawn"];

function needOf({ kind, arguments: given }: CapabilityRequest): Need {
  const { database, key, prefix, command, args, name } = given as Record<string, string> & { args: string[] };
  switch (kind) {
    case "db.read":
      return { kind, database: database!, statements: ["select"] };
    case "db.write":
      return { kind, database: database!, statements: ["insert"] };
    case "kv.read":
    case "kv.write":
      return { kind, key: key ?? prefix! };
    case "process.spawn":
      return { kind, command: command!, args };
    default:
      return { kind: "tool.call", tool: name! };
  }
}

async function callWith(
  execute: (context: ToolContext) => unknown,
  reply: (request: CapabilityRequest) => CapabilityReply = () => ({ ok: true, value: null }),
  grants = granted,
) {
  const broker = fakeBroker(reply, needOf);
  const policy = {
    version: "1",
    posture: "permissive",
    grants: grants.map((capability) => ({ tool: "*", capability })),
  };
  const { kernel, events } = await openKernel({ policy, brokers: [broker] });
  const capabilities = granted.map((each): DeclaredCapability => ({ ...each, optional: true }));
  const more = { capabilities, effects, determinism: "external" };
  expect(kernel.registerTrusted(toolOf((_, context) => execute(context), more))).toMatchObject({ ok: true });
  const result = await kernel.call("subject", {});
  return { result, broker, events: await events() };
}

describe("what a tool asks for", () => {
  it("a query, with columns and rows", async () => {
    const answer = { columns: ["a"], rows: [[1], [null]] };
    const { result, broker } = await callWith(
      ({ db }) => db("notes").query("SELECT a FROM t WHERE b = ?", ["x"]),
      () => ({ ok: true, value: answer }),
    );
    expect(result).toMatchObject({ ok: true, data: answer, effects: ["db.read"] });
    const asked = { database: "notes", sql: "SELECT a FROM t WHERE b = ?", params: ["x"] };
    expect(broker.asked).toEqual([{ kind: "db.read", operation: "query", arguments: asked }]);
  });

  it("a change of a database", async () => {
    const { result, broker } = await callWith(
      ({ db }) => db("notes").run("INSERT INTO t VALUES (1)"),
      () => ({ ok: true, value: { changes: 1, lastInsertRowId: 7 } }),
    );
    expect(result).toMatchObject({ ok: true, data: { changes: 1, lastInsertRowId: 7 }, effects: ["db.write"] });
    expect(broker.asked[0]).toMatchObject({ operation: "run", arguments: { params: [] } });
  });

  it("values by key: there, absent, written, listed, deleted", async () => {
    const { result, broker } = await callWith(
      async ({ kv }) => {
        await kv.put("a/x", "text");
        const found = await kv.get("a/x");
        const absent = await kv.get("a/y");
        await kv.delete("a/x");
        return {
          found: new TextDecoder().decode(found),
          absent: absent === undefined,
          page: await kv.list({ prefix: "a/" }),
        };
      },
      ({ operation, arguments: { key } }) => {
        if (operation === "list") return { ok: true, value: { keys: ["a/x"], next: "a/x" } };
        if (operation !== "get") return { ok: true, value: null };
        return key === "a/x"
          ? { ok: true, value: { found: true }, body: new TextEncoder().encode("text") }
          : { ok: true, value: { found: false } };
      },
    );
    expect(result).toMatchObject({
      ok: true,
      data: { found: "text", absent: true, page: { keys: ["a/x"], next: "a/x" } },
      effects: ["kv.read", "kv.write"],
    });
    expect(broker.asked.map(({ kind, operation }) => `${kind} ${operation}`)).toEqual([
      "kv.write put",
      "kv.read get",
      "kv.read get",
      "kv.write delete",
      "kv.read list",
    ]);
    expect(broker.asked.at(-1)!.arguments).toEqual({ prefix: "a/", limit: 100 });
  });

  it("a command with its input", async () => {
    const { result, broker } = await callWith(
      async ({ spawn }) => {
        const { exitCode, stdout, stderr } = await spawn("git", ["log", "src/a.ts"], { stdin: "in" });
        return { exitCode, stdout: new TextDecoder().decode(stdout), stderr };
      },
      () => ({ ok: true, value: { exitCode: 1, stderr: "no" }, body: new TextEncoder().encode("out") }),
    );
    expect(result).toMatchObject({
      ok: true,
      data: { exitCode: 1, stdout: "out", stderr: "no" },
      effects: ["process.spawn"],
    });
    expect(broker.asked[0]).toMatchObject({ arguments: { command: "git", args: ["log", "src/a.ts"] } });
    expect(new TextDecoder().decode(broker.asked[0]!.body)).toBe("in");
  });

  it("a secret, as a text of its own in each call", async () => {
    const first = await callWith(({ secret }) => secret("api_key"));
    const second = await callWith(({ secret }) => secret("api_key"));
    const shape = /^keyhole-secret\.[0-9a-f]{32}\.api_key\.$/;
    for (const { result } of [first, second]) expect(result.ok && result.data).toMatch(shape);
    expect(first.result.ok && first.result.data).not.toBe(second.result.ok && second.result.data);
  });
});

describe("what is refused", () => {
  it.each<[string, (context: ToolContext) => unknown]>([
    ["another database", ({ db }) => db("payroll").query("SELECT 1")],
    ["a key outside", ({ kv }) => kv.get("b/x")],
    ["a list of every key", ({ kv }) => kv.list()],
    ["an option that nobody granted", ({ spawn }) => spawn("git", ["log", "--output=src/a"])],
    ["another command", ({ spawn }) => spawn("sh", ["-c", "git log"])],
    ["another tool", ({ tools }) => tools.call("delete_file", {})],
  ])("%s", async (_, execute) => {
    const { result, broker, events } = await callWith(execute);
    expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" }, effects: [] });
    expect(broker.asked).toEqual([]);
    expect(events.find(({ type }) => type === "capability.used")).toMatchObject({ payload: { outcome: "refused" } });
  });

  it("everything that no broker serves", async () => {
    const asks: readonly ((context: ToolContext) => unknown)[] = [
      ({ db }) => db("notes").query("SELECT 1"),
      ({ db }) => db("notes").run("DELETE FROM t"),
      ({ kv }) => kv.get("a/x"),
      ({ kv }) => kv.put("a/x", ""),
      ({ spawn }) => spawn("git", ["log"]),
    ];
    const policy = {
      version: "1",
      posture: "permissive",
      grants: granted.map((capability) => ({ tool: "*", capability })),
    };
    for (const ask of asks) {
      const { kernel } = await openKernel({ policy });
      kernel.registerTrusted(
        toolOf((_, context) => ask(context), { capabilities: granted, effects, determinism: "external" }),
      );
      expect(await kernel.call("subject", {})).toMatchObject({
        ok: false,
        error: { code: "CAPABILITY_DENIED" },
      });
    }
  });

  it("a required kind without a grant, with a grant to copy where the tool declares a single thing", async () => {
    const { kernel } = await openKernel();
    for (const capability of granted.filter(({ kind }) => kind !== "process.spawn")) {
      const name = `needs_${capability.kind.replace(".", "_")}`;
      kernel.registerTrusted(toolOf(() => 1, { name, capabilities: [capability], effects, determinism: "external" }));
      const result = await kernel.call(name, {});
      const hint = result.ok ? "" : result.error.operatorHint;
      const grant: unknown = JSON.parse(hint.replace(/^[^{]*/, ""));
      const { kernel: next } = await openKernel({ policy: { version: "1", posture: "permissive", grants: [grant] } });
      next.registerTrusted(toolOf(() => 1, { name, capabilities: [capability], effects, determinism: "external" }));
      expect(await next.call(name, {})).toMatchObject({ ok: true });
    }
  });

  it("a tool that names an effect too few", async () => {
    const { kernel } = await openKernel();
    for (const capability of granted.filter(({ kind }) => kind !== "tool.call"))
      expect(
        kernel.registerTrusted(toolOf(() => 1, { capabilities: [capability], determinism: "external" })),
      ).toMatchObject({
        ok: false,
        error: { code: "INVALID_MANIFEST", path: "/capabilities/0" },
      });
  });
});

import {
  type Broker,
  type BrokerSession,
  type BrokerReply,
  type CapabilityRequest,
  checkName,
  type JsonValue,
  type Need,
} from "@keyhole/kernel";
import { dbRead, dbWrite } from "@keyhole/kernel/families";
import { classifyStatement } from "@keyhole/kernel/statements";
import { knownOptions } from "@keyhole/kernel/foreign";
import { checkedBroker } from "./checked.ts";
import { refused, type Refused } from "./fault.ts";
import { Places } from "./places.ts";
import type { SqlDatabase, SqlFault, SqlLimits, SqlStatement, SqlValue } from "./sql/database.ts";
import { cellOf, jsonOf } from "./sql/values.ts";

export type {
  SqlChange,
  SqlDatabase,
  SqlFault,
  SqlLimits,
  SqlResult,
  SqlRows,
  SqlStatement,
  SqlValue,
} from "./sql/database.ts";

export interface DbBrokerOptions {
  /** Of one statement, from its start. Default 5,000. */
  readonly timeMs?: number;
  /** Rows of one answer, where the grant sets no smaller number. Default 10,000. */
  readonly rows?: number;
  /** Bytes of the values of one answer. Default 4 MiB. */
  readonly bytes?: number;
}

/** More than a statement of a person has, fewer than every engine takes (D1: 100). */
const maxParams = 100;

/** Which capability each operation needs. */
const operations: ReadonlyMap<string, DbKind> = new Map([
  ["query", "db.read"],
  ["run", "db.write"],
]);

type DbKind = "db.read" | "db.write";

interface DbRequest {
  readonly kind: DbKind;
  readonly database: string;
  readonly statement: SqlStatement;
}

/**
 * Serves `db.read` and `db.write` over databases that the host names: a tool says a name, never a file. One prepared statement per request, its values
 * apart from its words. The broker reads the words to know the needed grants, and the engine then enforces them.
 *
 * `query` answers `{ columns, rows }`, `run` `{ changes, lastInsertRowId }`. Cells that JSON does not have are objects with one member: `{ base64 }`,
 * `{ integer }` beyond 53 bits, `{ real }` for infinities; parameters take the same forms.
 *
 * @example
 * dbBroker({ main: nodeDatabase("./data/main.db") })
 */
export function dbBroker(databases: Readonly<Record<string, SqlDatabase>>, options: DbBrokerOptions = {}): Broker {
  const byName = new Map(Object.entries(databases).map(([name, database]) => [name, openInTurns(database)]));
  const {
    timeMs = 5_000,
    rows = 10_000,
    bytes = 4 << 20,
  } = knownOptions(options, { timeMs: 1, rows: 1, bytes: 1 }, "dbBroker");
  return checkedBroker({
    families: [dbRead, dbWrite],
    read: readRequest,
    needsOf,
    async serve(request, session) {
      const database = byName.get(request.database);
      if (database === undefined)
        return refused("NOT_FOUND", `The database ${JSON.stringify(request.database)} does not exist here.`);
      const [need] = needsOf(request);
      const limits = { timeMs, bytes, rows: Math.min(rows, session.limit(need)) };
      return database(session, (own) => (request.kind === "db.read" ? query : run)(own, request, limits, session));
    },
  });
}

type Use = (session: BrokerSession, use: (database: SqlDatabase) => Promise<BrokerReply>) => Promise<BrokerReply>;

/** A database whose statements wait for their turn, where it runs a few at a time. */
function openInTurns(database: SqlDatabase): Use {
  const { concurrency } = database;
  if (concurrency === undefined) return (_, use) => use(database);
  const places = new Places({ size: Math.max(1, concurrency), subject: "statements" });
  return (session, use) => places.serve(session, () => use(database));
}

function readRequest({
  kind,
  operation,
  arguments: { database, sql, params = [] },
  body,
}: CapabilityRequest): { readonly ok: true; readonly value: DbRequest } | Refused {
  const wanted = operations.get(operation);
  if (wanted === undefined)
    return refused("INVALID_REQUEST", `Databases have no operation ${JSON.stringify(operation.slice(0, 40))}.`);
  if (kind !== wanted)
    return refused("INVALID_REQUEST", `The operation ${operation} belongs to ${wanted}, not to ${kind}.`);
  if (typeof database !== "string") return refused("INVALID_REQUEST", "`database` is not a string.");
  const fault = checkName(database);
  if (fault) return refused("INVALID_REQUEST", `The database's name is invalid: ${fault}.`);
  if (typeof sql !== "string") return refused("INVALID_REQUEST", "`sql` is not a string.");
  if (body !== undefined)
    return refused("INVALID_REQUEST", "A statement cannot have a body.", "Give values as `params`.");
  const words = classifyStatement(sql);
  if (!words.ok) return refused("INVALID_REQUEST", `The statement is refused: ${words.reason}.`, oneStatement);
  const { kinds, target } = words;
  const reads = kinds.every((each) => each === "select");
  if (reads !== (wanted === "db.read"))
    return refused(
      "INVALID_REQUEST",
      `The statement does ${kinds.join(" and ")}, and ${operation} is for statements that ${wanted === "db.read" ? "read" : "change something"}.`,
      `Use ${reads ? "`query`" : "`run`"}.`,
    );
  const cells = readParams(params);
  if (!cells.ok) return cells;
  const statement = { sql, params: cells.value, kinds, ...(target !== undefined && { target }) };
  return { ok: true, value: { kind: wanted, database, statement } };
}

const oneStatement = "Send one SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER or DROP.";

function readParams(params: JsonValue): { readonly ok: true; readonly value: readonly SqlValue[] } | Refused {
  if (!Array.isArray(params)) return refused("INVALID_REQUEST", "`params` is not a list of values.");
  if (params.length > maxParams)
    return refused("INVALID_REQUEST", `A statement has at most ${maxParams} parameters.`, "Send JSON as one of them.");
  const cells: SqlValue[] = [];
  for (const [index, value] of (params as readonly JsonValue[]).entries()) {
    const read = cellOf(value);
    if (typeof read === "string") return refused("INVALID_REQUEST", `Parameter ${index + 1} ${read}.`);
    cells.push(read.cell);
  }
  return { ok: true, value: cells };
}

/** First that of the request's own kind; then, of a change that reads, the other. */
function needsOf({ kind, database, statement }: DbRequest): readonly [Need, ...Need[]] {
  const reading: Need = { kind: "db.read", database, statements: ["select"] };
  if (kind === "db.read") return [reading];
  const changes = statement.kinds.filter((each) => each !== "select");
  const changing: Need = { kind, database, statements: changes };
  return statement.kinds.includes("select") ? [changing, reading] : [changing];
}

async function query(
  database: SqlDatabase,
  { statement }: DbRequest,
  limits: SqlLimits,
  { signal }: BrokerSession,
): Promise<BrokerReply> {
  const answer = await database.query(statement, limits, signal);
  if (!answer.ok) return refuse(answer.fault, limits);
  const { columns, rows } = answer.value;
  return { ok: true, value: { columns: [...columns], rows: rows.map((row) => row.map(jsonOf)) } };
}

/**
 * Only the database knows the effect of a schema on a change. It reports the further kinds before
 * the change, and the grant has to cover them too.
 */
async function run(
  database: SqlDatabase,
  request: DbRequest,
  limits: SqlLimits,
  session: BrokerSession,
): Promise<BrokerReply> {
  const { statement } = request;
  const answer = await database.run(statement, limits, session.signal);
  if (!answer.ok) {
    const more = (answer.fault.needs ?? []).filter((kind) => !statement.kinds.includes(kind));
    if (more.length === 0) return refuse(answer.fault, limits);
    const asked = { ...request, statement: { ...statement, kinds: [...statement.kinds, ...more].toSorted() } };
    const error = needsOf(asked)
      .map((need) => session.refusal(need))
      .find((refusal) => refusal !== undefined);
    return error ? { ok: false, error } : run(database, asked, limits, session);
  }
  const { changes, lastInsertRowId } = answer.value;
  return { ok: true, value: { changes, lastInsertRowId: jsonOf(lastInsertRowId) } };
}

const faults = {
  rejected: { code: "INVALID_REQUEST", says: () => "The database refuses the statement", hint: "" },
  denied: {
    code: "CAPABILITY_DENIED",
    says: () => "The grant does not allow the statement",
    hint: "No statement may attach, change settings, or use triggers, temporary or virtual tables.",
  },
  "too-slow": {
    code: "BOUNDS_EXCEEDED",
    says: ({ timeMs }) => `The statement took longer than ${timeMs} ms`,
    hint: "Narrow it, or add an index.",
  },
  "too-many-rows": {
    code: "BOUNDS_EXCEEDED",
    says: ({ rows }) => `The answer has more than ${rows} rows`,
    hint: "Add a LIMIT.",
  },
  "too-large": {
    code: "BOUNDS_EXCEEDED",
    says: ({ bytes }) => `The statement needs more memory, or its answer more than ${bytes} bytes`,
    hint: "Name fewer columns, or add a LIMIT.",
  },
  busy: { code: "UNAVAILABLE", says: () => "Another connection is writing to the database", hint: "Try again." },
  "no-space": { code: "UNAVAILABLE", says: () => "The database is full", hint: "Remove data that you do not need." },
  cancelled: { code: "CANCELLED", says: () => "The call ended before the statement did", hint: "" },
  broken: { code: "UNAVAILABLE", says: () => "The database cannot be used", hint: "Try again later." },
} as const satisfies Record<
  SqlFault["reason"],
  { readonly code: Refused["error"]["code"]; readonly says: (limits: SqlLimits) => string; readonly hint: string }
>;

function refuse({ reason, message }: SqlFault, limits: SqlLimits): BrokerReply {
  const { code, says, hint } = faults[reason];
  return refused(code, `${says(limits)}${message === "" ? "" : `: ${message.toWellFormed()}`}.`, hint);
}

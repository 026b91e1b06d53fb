import type { JsonObject, JsonValue } from "../../json/json.ts";
import type { Ask } from "../ask.ts";
import type { Governed } from "../capability.ts";
import { defineFamily } from "../define-family.ts";
import type { Family } from "../family.ts";
import { count, isLiteral, isText, listOf, optional, patternFault, patterns } from "../fields.ts";
import { nameCondition } from "../matching/name-condition.ts";
import { checkName, checkNamePattern, matchName } from "../matching/names.ts";

declare module "../capability.ts" {
  interface CapabilityTypes {
    "db.read": DatabaseCapability<"db.read">;
    "db.write": DatabaseCapability<"db.write">;
  }
  interface EffectTypes {
    "db.read": true;
    "db.write": true;
  }
  interface RequestConditions {
    /** Patterns for names of databases. */
    readonly database?: readonly string[];
  }
  interface ToolLists {
    /** Patterns for names of databases. */
    readonly databases?: Governed;
  }
  interface NeedTypes {
    "db.read": DatabaseNeed<"db.read">;
    "db.write": DatabaseNeed<"db.write">;
  }
}

type DatabaseKind = "db.read" | "db.write";

/**
 * The effect of a statement on a database. One statement can have several:
 * `INSERT … ON CONFLICT DO UPDATE` inserts and updates. A change that reads has two needs:
 * `db.write` for the change, and `db.read`.
 */
export const statementKinds = ["select", "insert", "update", "delete", "create", "alter", "drop"] as const;
export type StatementKind = (typeof statementKinds)[number];

export interface DatabaseCapability<Kind extends DatabaseKind = DatabaseKind> {
  readonly kind: Kind;
  /** Names of databases: exact, `logs_*` (a prefix) or `*`. */
  readonly databases: readonly string[];
  /** Default: `select` for `db.read`, which takes no other; `insert`, `update`, `delete` for `db.write`. */
  readonly statements?: readonly StatementKind[];
  /** Rows of one answer. */
  readonly rows?: number;
}

interface DatabaseNeed<Kind extends DatabaseKind> {
  readonly kind: Kind;
  readonly database: string;
  /** As `classifyStatement` of `@keyhole/kernel/statements` finds them. */
  readonly statements: readonly StatementKind[];
}

export const dbRead: Family = /* @__PURE__ */ databaseFamily("db.read", ["select"]);

export const dbWrite: Family = /* @__PURE__ */ databaseFamily("db.write", ["insert", "update", "delete"]);

function databaseFamily(kind: DatabaseKind, defaults: readonly StatementKind[]): Family {
  const reads = kind === "db.read";
  return defineFamily<DatabaseCapability, DatabaseNeed<DatabaseKind>>({
    kind,
    title: reads ? "Reads databases" : "Changes databases",
    effect: reads ? "reads" : "changes",
    fields: {
      databases: patterns(checkNamePattern),
      statements: optional(listOf({ enum: statementKinds }, statementKinds.length)),
      rows: count,
    },
    need: { database: isText, statements: areStatements },
    check({ statements = [] }) {
      const fault = patternFault(statements, (each) =>
        reads && each !== "select" ? "db.read takes `select` alone" : undefined,
      );
      return fault && { ...fault, path: `/statements${fault.path}` };
    },
    covers:
      ({ databases, statements = defaults }) =>
      (need) =>
        databases.some((pattern) => matchName(pattern, need.database)) &&
        need.statements.length > 0 &&
        need.statements.every((each) => statements.includes(each)),
    describe: ({ databases, statements = defaults }) => `${databases.join(", ")} (${statements.join(", ")})`,
    target: ({ statements, database }) => `${statements.join("+")} ${database}`,
    narrowest: ({ database, statements }) => ({ kind, databases: [database], statements: [...new Set(statements)] }),
    isNarrow: ({ databases }) => isLiteral(databases),
    conditions: { database: nameCondition("databases", ({ database }) => database) },
    targetArguments: {
      required: ["database"],
      needs({ database = "" }, { statements = defaults }) {
        const fault = checkName(database);
        return fault
          ? `The database's name is invalid: ${fault}.`
          : statements.map((each) => ({ kind, database, statements: [each] }));
      },
    },
    isLocal: true,
    sample: ({ database = "example" }) => ({ kind, database, statements: [reads ? "select" : "update"] }),
    limit: ({ rows }) => rows,
  });
}

function areStatements(value: unknown): value is readonly StatementKind[] {
  return Array.isArray(value) && value.every((each) => statementKinds.some((known) => known === each));
}

export interface ToolDatabase {
  /** A statement that reads. */
  readonly query: (sql: string, params?: readonly JsonValue[]) => Promise<ToolRows>;
  /** A statement that changes something. */
  readonly run: (sql: string, params?: readonly JsonValue[]) => Promise<ToolChanges>;
}

export interface ToolRows {
  readonly columns: readonly string[];
  /** Values in the order of the columns. */
  readonly rows: readonly (readonly JsonValue[])[];
}

interface ToolChanges {
  readonly changes: number;
  readonly lastInsertRowId: JsonValue;
}

/** The guest's half. */
export function databaseGuest(ask: Ask): (name: string) => ToolDatabase {
  return (name) => {
    const database = String(name);
    const statement = (sql: string, params: readonly JsonValue[] = []): JsonObject => ({
      database,
      sql: String(sql),
      params: [...params],
    });
    return {
      query: async (sql, params) =>
        (await ask<ToolRows>({ kind: "db.read", operation: "query", arguments: statement(sql, params) })).value,
      run: async (sql, params) =>
        (await ask<ToolChanges>({ kind: "db.write", operation: "run", arguments: statement(sql, params) })).value,
    };
  };
}

import { defineTool } from "@keyhole/kernel/tool";

/** Values that JSON lacks: bytes, integers beyond 53 bits, infinities. */
const other = {
  type: "object",
  properties: { base64: { type: "string" }, integer: { type: "string" }, real: { enum: ["Infinity", "-Infinity"] } },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
} as const;

export default defineTool({
  name: "sql_query",
  version: "1.0.0",
  title: "SQL query",
  description:
    "Reads from a SQLite database with one SELECT and returns columns and rows. Values go into `params`, one for each `?`, never into the text. " +
    "The tables are in sqlite_schema. At most 1,000 rows: add a LIMIT.",
  category: "data",
  effects: ["db.read"],
  determinism: "external",
  tier: 1,
  risk: "low",
  idempotent: true,
  capabilities: [{ kind: "db.read", databases: ["*"], rows: 1_000, target: { database: "/database" } }],
  bounds: { outputBytes: 5 << 20 },
  input: {
    type: "object",
    properties: {
      database: {
        type: "string",
        minLength: 1,
        maxLength: 128,
        default: "main",
        description: "Name of the database, as its host calls it.",
      },
      sql: {
        type: "string",
        minLength: 1,
        maxLength: 20_000,
        description: "One SELECT, such as SELECT name FROM users WHERE id = ?",
      },
      params: {
        type: "array",
        items: { anyOf: [{ type: ["null", "boolean", "number", "string"] }, other] },
        maxItems: 100,
        default: [],
        description: 'Values for the question marks, in their order; bytes as { "base64": "…" }.',
      },
    },
    required: ["sql"],
    additionalProperties: false,
    examples: [{ sql: "SELECT ? AS greeting, length(?1) AS characters", params: ["Hello, world!"] }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        columns: { type: "array", items: { type: "string" } },
        rows: {
          type: "array",
          items: { type: "array" },
          description:
            'Values in the order of the columns; { "base64" } for bytes, { "integer" } for a number beyond 53 bits.',
        },
      },
      required: ["columns", "rows"],
      additionalProperties: false,
    },
  },
  async execute({ database, sql, params }, context) {
    const { columns, rows } = await context.db(database).query(sql, params);
    return { columns: [...columns], rows: rows.map((row) => [...row]) };
  },
});

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@keyhole/kernel";

/** A published server behind `keyhole wrap`. One rule denies one value of one argument of one tool. */
export interface WrappedServer {
  /** Its entry, under node_modules. */
  readonly entry: string;
  readonly args?: readonly string[];
  /** Variables of the server, each a path in the folder: `""` is the folder. */
  readonly files?: Readonly<Record<string, string>>;
  readonly tools: number;
  readonly call: readonly [tool: string, input: JsonObject, expected: string];
  readonly denied: readonly [tool: string, at: string, input: JsonObject];
  /** A file in the folder that the denied call would leave. */
  readonly trace?: string;
}

/** All that the servers may touch. */
export const folder = mkdtempSync(join(tmpdir(), "keyhole-wrapped-"));

export const entryOf = (entry: string): string => fileURLToPath(new URL(`node_modules/${entry}`, import.meta.url));

const thought = { thought: "First.", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
const step = {
  available_mcp_tools: [],
  thought: "First.",
  next_thought_needed: false,
  thought_number: 1,
  total_thoughts: 1,
};
const entity = (name: string): JsonObject => ({ entities: [{ name, entityType: "person", observations: [] }] });

/** All of them work without a network. */
export const servers: readonly WrappedServer[] = [
  {
    entry: "@modelcontextprotocol/server-everything/dist/index.js",
    args: ["stdio"],
    tools: 13,
    call: ["echo", { message: "hello" }, "hello"],
    denied: ["echo", "/message", { message: "secret" }],
  },
  {
    entry: "@modelcontextprotocol/server-filesystem/dist/index.js",
    args: [folder],
    tools: 14,
    call: ["read_text_file", { path: join(folder, "note.txt") }, "A note."],
    denied: ["write_file", "/path", { path: join(folder, "made.txt"), content: "made" }],
    trace: "made.txt",
  },
  {
    entry: "@modelcontextprotocol/server-memory/dist/index.js",
    files: { MEMORY_FILE_PATH: "graph.jsonl" },
    tools: 9,
    call: ["read_graph", {}, "entities"],
    denied: ["create_entities", "/entities/0/name", entity("Ada")],
    trace: "graph.jsonl",
  },
  {
    entry: "@modelcontextprotocol/server-sequential-thinking/dist/index.js",
    tools: 1,
    call: ["sequentialthinking", thought, "thoughtNumber"],
    denied: ["sequentialthinking", "/thought", { ...thought, thought: "secret" }],
  },
  {
    entry: "@agent-infra/mcp-server-commands/dist/index.cjs",
    tools: 2,
    call: ["run_command", { command: "echo hello" }, "hello"],
    denied: ["run_command", "/command", { command: `touch ${join(folder, "ran.txt")}` }],
    trace: "ran.txt",
  },
  {
    entry: "@agent-infra/mcp-server-filesystem/dist/index.cjs",
    args: ["--allowed-directories", folder],
    tools: 11,
    call: ["read_file", { path: join(folder, "note.txt") }, "A note."],
    denied: ["write_file", "/path", { path: join(folder, "other.txt"), content: "made" }],
    trace: "other.txt",
  },
  {
    entry: "@allpepper/memory-bank-mcp/dist/main/index.js",
    files: { MEMORY_BANK_ROOT: "" },
    tools: 5,
    call: ["memory_bank_write", { projectName: "notes", fileName: "a.md", content: "made" }, "a.md"],
    denied: ["memory_bank_write", "/projectName", { projectName: "plans", fileName: "a.md", content: "made" }],
    trace: "plans",
  },
  {
    entry: "@coo-quack/calc-mcp/dist/index.js",
    tools: 21,
    call: ["math", { expression: "6 * 7" }, "42"],
    denied: ["hash", "/algorithm", { input: "hello", algorithm: "md5" }],
  },
  {
    entry: "@itseasy21/mcp-knowledge-graph/dist/index.js",
    files: { MEMORY_FILE_PATH: "knowledge.jsonl" },
    tools: 11,
    call: ["read_graph", {}, "entities"],
    denied: ["create_entities", "/entities/0/name", entity("Grace")],
    trace: "knowledge.jsonl",
  },
  {
    entry: "@kazuph/mcp-taskmanager/dist/index.js",
    files: { TASK_MANAGER_FILE_PATH: "tasks.json" },
    tools: 10,
    call: ["list_requests", {}, "requests_listed"],
    denied: ["request_planning", "/originalRequest", { originalRequest: "secret", tasks: [] }],
    trace: "tasks.json",
  },
  {
    entry: "mcp-sequentialthinking-tools/dist/index.js",
    tools: 1,
    call: ["sequentialthinking_tools", step, "thought_number"],
    denied: ["sequentialthinking_tools", "/thought", { ...step, thought: "secret" }],
  },
  {
    entry: "time-mcp/dist/index.js",
    tools: 6,
    call: ["days_in_month", { date: "2024-02-10" }, "29"],
    denied: ["days_in_month", "/date", { date: "2023-02-10" }],
  },
];

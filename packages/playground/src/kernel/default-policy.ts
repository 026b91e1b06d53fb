import type { GrantRule, PolicyDocument } from "@keyhole/kernel";

const files = (tool: string, kind: "fs.read" | "fs.write"): GrantRule => ({
  tool,
  capability: { kind, paths: ["workspace", "workspace/**"] },
});

/** What a new page starts with: files and values below `workspace`, the example database, and no host until the person adds one. */
export const startPolicy: PolicyDocument = {
  version: "1",
  posture: "standard",
  grants: [
    files("read_file", "fs.read"),
    files("list_directory", "fs.read"),
    files("write_file", "fs.write"),
    files("delete_file", "fs.write"),
    files("append_note", "fs.read"),
    files("append_note", "fs.write"),
    { tool: "kv_get", capability: { kind: "kv.read", keys: ["workspace/"] } },
    { tool: "kv_put", capability: { kind: "kv.write", keys: ["workspace/"] } },
    { tool: "sql_query", capability: { kind: "db.read", databases: ["main"] } },
    { tool: "run_code", capability: { kind: "tool.call", tools: ["*"] } },
  ],
  rules: [],
};

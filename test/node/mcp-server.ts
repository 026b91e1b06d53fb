/** Started by tests as a process of its own: a server of MCP over stdio that misbehaves as it is called to. */
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const say = (message: object): void => void writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words: string): object => ({ content: [{ type: "text", text: words }] });
const inputSchema = { type: "object" };
const names = ["pid", "child", "scream", "print", "twice", "huge", "die", "cling", "env", "cut", "list"];

/** Stays when its stdin ends, and when it is asked to end. */
function cling(): void {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1_000);
}

function call(name: string, id: number): object | undefined {
  switch (name) {
    case "pid":
      return text(String(process.pid));
    case "child": {
      const child = spawn(process.execPath, ["-e", "process.on('SIGTERM',()=>{});setInterval(()=>{},1000)"], {
        stdio: "inherit",
      });
      return text(String(child.pid));
    }
    case "scream":
      process.stderr.write("x".repeat(4_000_000)); // Does not wait: its reader is slow on purpose.
      return text("screamed");
    case "print":
      for (let line = 0; line < 101; line++) writeSync(1, "Listening!\n");
      return text("printed");
    case "twice":
      writeSync(1, '{"jsonrpc":"2.0","method":"ping","method":"notifications/x"}\n');
      writeSync(1, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"a":1,"a":2}}\n`);
      return undefined;
    case "cut":
      return { content: [{ type: "text", text: "cut \ud83d" }] };
    case "list":
      return [];
    case "huge":
      return text("x".repeat(20_000_000));
    case "cling":
      cling();
      return text("clings");
    case "env":
      return text(JSON.stringify(process.env));
    default:
      process.stderr.write("It ran \u001b[8mout of luck.\n", () => process.exit(7));
      return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as {
    readonly id?: number;
    readonly method: string;
    readonly params: { readonly name: string };
  };
  if (id === undefined) continue;
  if (method === "initialize") {
    const serverInfo = { name: "rude", version: "1.0.0" };
    say({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list")
    say({ id, result: { tools: names.map((name) => ({ name, description: name, inputSchema })) } });
  else if (method === "tools/call") {
    const result = call(params.name, id);
    if (result) say({ id, result });
  } else say({ id, error: { code: -32_601, message: "Method not found" } });
}

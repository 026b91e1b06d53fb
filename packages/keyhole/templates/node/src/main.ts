import { resolve } from "node:path";
import { fileSink, terminalApprover } from "@keyhole/worker-host/node";
import { openKernel } from "./kernel.ts";

// npm start -- save_note '{"path":"notes/todo.txt","text":"Water the plants."}'
const [name = "word_count", input = '{"text":"Water the plants."}'] = process.argv.slice(2);
const sink = fileSink("audit.jsonl");
const kernel = await openKernel({ approver: terminalApprover(), files: resolve("workspace"), sink });
const result = await kernel.call(name, JSON.parse(input), { caller: "agent" });
console.log(result.ok ? result.data : result.error);
await kernel.close();
process.exitCode = result.ok ? 0 : 1;

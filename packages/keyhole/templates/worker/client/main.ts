import { terminalApprover } from "@keyhole/worker-host/node";
import { edge } from "./edge.ts";

// npm run call -- save_note '{"path":"notes/todo.txt","text":"Water the plants."}'
const [name = "word_count", input = '{"text":"Water the plants."}'] = process.argv.slice(2);
const result = await edge({ approver: terminalApprover() }).call(name, JSON.parse(input));
console.log(result.ok ? result.data : result.error);
process.exit(result.ok ? 0 : 1);

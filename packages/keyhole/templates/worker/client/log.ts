import { writeFileSync } from "node:fs";
import { edge } from "./edge.ts";

// Saves the audit log as a file that `keyhole verify` reads.
const events = await edge().audit.read();
writeFileSync("audit.jsonl", events.map((event) => `${JSON.stringify(event)}\n`).join(""));
console.log(`${events.length} events written to audit.jsonl`);

import { writeFileSync } from "node:fs";
import { ask } from "./edge.ts";

// Saves the audit log as a file that `keyhole verify` reads.
const lines: string[] = [];
for (let from = 0; ;) {
  const { events = [], next = from } = await ask(`/v1/audit?from=${from}&limit=1000`);
  if (events.length === 0) break;
  lines.push(...events.map((event) => `${JSON.stringify(event)}\n`));
  from = next;
}
writeFileSync("audit.jsonl", lines.join(""));
console.log(`${lines.length} events written to audit.jsonl`);

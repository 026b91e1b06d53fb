// Writes the published schema of the log's events: docs/audit-event.schema.json. A test holds the file against the source.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./project.mjs";

const program = `import { eventSchema } from "@keyhole/kernel/event-schema"; process.stdout.write(JSON.stringify(eventSchema));`;
const { code, output } = await run("node", ["--conditions=keyhole-source", "--input-type=module", "-e", program], {
  capture: true,
});
if (code !== 0) throw new Error(output);
const path = join(root, "docs", "audit-event.schema.json");
writeFileSync(path, output);
await run("oxfmt", [path], { capture: true });

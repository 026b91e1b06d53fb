// Writes the published JSON Schemas: of the log's events, and of the files that people write. A test holds each file against the source.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root, run } from "./project.mjs";

const program = `import { eventSchema } from "@keyhole/kernel/event-schema";
import { manifestFileSchema, packageFileSchema, policyFileSchema } from "@keyhole/kernel/document-schemas";
import { configFileSchema } from "@keyhole/worker-host/config-schema";
process.stdout.write(JSON.stringify({
  "docs/audit-event.schema.json": eventSchema,
  "packages/kernel/schemas/policy.schema.json": policyFileSchema,
  "packages/kernel/schemas/manifest.schema.json": manifestFileSchema,
  "packages/kernel/schemas/package.schema.json": packageFileSchema,
  "packages/worker-host/schemas/config.schema.json": configFileSchema,
}));`;
const { code, output } = await run("node", ["--conditions=keyhole-source", "--input-type=module", "-e", program], {
  capture: true,
});
if (code !== 0) throw new Error(output);
for (const [path, schema] of Object.entries(JSON.parse(output))) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(schema));
  await run("oxfmt", [file], { capture: true });
}

// Writes the names of the DNS root into the network's broker: `node scripts/write-root-zone.mjs LIST DATE`. The list is a JSON array of names, as the
// package `tlds` has it, or IANA's own text, one name a line; the date is that of the list.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./project.mjs";

const [file, date] = process.argv.slice(2);
if (!file || !date) throw new Error("Usage: node scripts/write-root-zone.mjs LIST DATE");
const text = readFileSync(file, "utf8");
/** @type {string[]} */
const names = text.startsWith("[") ? JSON.parse(text) : text.split("\n").filter((line) => /^[^#\s]/.test(line));
const ascii = [...new Set(names.map((name) => new URL(`http://a.${name.trim()}/`).hostname.slice(2)))].sort();
if (ascii.length < 1_300) throw new Error(`${ascii.length} names are too few for the root.`);

const lines = [""];
for (const name of ascii) {
  if (`${lines.at(-1)} ${name}`.length > 140) lines.push("");
  lines[lines.length - 1] = `${lines.at(-1)} ${name}`.trimStart();
}
writeFileSync(
  join(root, "packages/worker-host/src/brokers/net/root-zone.ts"),
  `/** The ${ascii.length} top-level domains that IANA's root had on ${date}. Written by scripts/write-root-zone.mjs. */
export const rootZone: ReadonlySet<string> = /* @__PURE__ */ new Set(
  \`
${lines.join("\n")}
\`
    .trim()
    .split(/\\s/),
);
`,
);

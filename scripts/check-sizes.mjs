// Bundles what a user would import, minified, and holds it against its budget. No bundle may contain code that makes code
// out of strings, nor ask for a platform's own modules.
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { keyhole } from "./keyhole-plugin.mjs";
import { root } from "./project.mjs";

// `maxBytes` is what must not be exceeded: a change that does is refused. `goalBytes` is where a bundle has yet to come down to.
const budgets = [
  { name: "kernel, whole", source: `export * from "@keyhole/kernel";`, maxBytes: 88_832, goalBytes: 32 * 1024 },
  {
    name: "kernel/schema",
    source: `export * from "@keyhole/kernel/schema";`,
    maxBytes: 12_800,
    goalBytes: 12 * 1024,
  },
  {
    name: "schema + explain",
    source: `export * from "@keyhole/kernel/schema"; export * from "@keyhole/kernel/schema/explain";`,
    maxBytes: 15_360,
    goalBytes: 15_104,
  },
  { name: "kernel/canonical", source: `export * from "@keyhole/kernel/canonical";`, maxBytes: 1024, goalBytes: 1024 },
  {
    name: "page of a kernel",
    source: `export { connectKernel, serveFrameContainer } from "@keyhole/worker-host/browser";`,
    maxBytes: 17_408,
    goalBytes: 17_408,
  },
  {
    name: "its kernel's worker",
    source: `export { createFullKernel } from "@keyhole/kernel"; export { browserHost, exposeKernel, remoteFrameContainer } from "@keyhole/worker-host/browser";`,
    maxBytes: 98_304,
    goalBytes: 55 * 1024,
  },
];

const forbidden = [/\beval\s*\(/, /\bnew\s+Function\b/, /\bFunction\s*\(/, /["'`]node:/, /\brequire\s*\(/];

/** @param {string} source @returns {Promise<string>} the minified code that is loaded at first, without what is imported when it is used */
async function bundle(source) {
  const entry = "virtual:entry";
  const output = await build({
    root,
    configFile: false,
    logLevel: "silent",
    resolve: { conditions: ["keyhole-source", "module", "browser", "production"] },
    plugins: [
      keyhole(),
      {
        name: "entry",
        resolveId: (id) => (id === entry ? `\0${entry}` : undefined),
        load: (id) => (id === `\0${entry}` ? source : undefined),
      },
    ],
    build: {
      write: false,
      target: "es2024",
      minify: "oxc",
      modulePreload: false,
      rolldownOptions: { input: entry, preserveEntrySignatures: "strict" },
    },
  });
  const parts = [output].flat().flatMap((each) => ("output" in each ? each.output : []));
  const chunks = new Map(parts.flatMap((part) => (part.type === "chunk" ? [[part.fileName, part]] : [])));
  const loaded = new Set([...chunks.values()].filter(({ isEntry }) => isEntry));
  for (const { imports } of loaded) for (const name of imports) loaded.add(chunks.get(name) ?? missing(name));
  return [...loaded].map(({ code }) => code).join("\n");
}

/** @param {string} name @returns {never} */
function missing(name) {
  throw new Error(`The bundle imports ${name}, which is not part of it.`);
}

process.stdout.on("error", () => {}); // Whoever reads may have read enough: `| head -1`.
let failed = false;
for (const { name, source, maxBytes, goalBytes } of budgets) {
  const code = await bundle(source);
  const bytes = gzipSync(code, { level: 9 }).length;
  const found = forbidden.filter((pattern) => pattern.test(code)).map(String);
  const ok = code.length > 200 && bytes <= maxBytes && found.length === 0;
  failed ||= !ok;
  const sizes = `${String(bytes).padStart(6)} of ${String(maxBytes).padStart(6)} bytes min+gzip`;
  const goal = bytes > goalBytes ? `, ${bytes - goalBytes} above the goal of ${goalBytes}` : "";
  const contained = found.length > 0 ? `, contains ${found.join(" ")}` : "";
  console.log(`${ok ? "✓" : "✗"} ${name.padEnd(18)} ${sizes}${goal}${contained}`);
}
process.exitCode = failed ? 1 : 0;

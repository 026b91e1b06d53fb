// Bundles what a user would import, minified, and holds it against its budget (scripts/sizes/budgets.mjs). No bundle may contain
// code that makes code out of strings, nor ask for a platform's own modules.
//
//   node scripts/check-sizes.mjs                      all of them
//   node scripts/check-sizes.mjs --esbuild            by esbuild as well, where it can
//   node scripts/check-sizes.mjs --profile "NAME"     the bytes of one of them, module by module
import { budgets } from "./sizes/budgets.mjs";
import { esbuildBundle, gzipBytes, profileOf, viteBundle } from "./sizes/bundle.mjs";

const forbidden = [/\beval\s*\(/, /\bnew\s+Function\b/, /\bFunction\s*\(/, /["'`]node:/, /\brequire\s*\(/];

/** @param {import("./sizes/budgets.mjs").Budget} budget */
async function check({ name, sources, maxBytes, goalBytes = maxBytes, documents = [], without = [] }) {
  /** @type {import("./sizes/bundle.mjs").Bundle[]} */
  const bundles = [];
  for (const source of documents) bundles.push(await viteBundle(source, true));
  for (const source of sources) bundles.push(await viteBundle(source));
  const bytes = bundles.reduce((sum, { code }) => sum + gzipBytes(code), 0);
  const found = forbidden.filter((pattern) => bundles.some(({ code }) => pattern.test(code))).map(String);
  const ids = bundles.flatMap(({ modules }) => [...modules].filter(([, code]) => code !== "").map(([id]) => id));
  const unwanted = ids.filter((id) => without.some((part) => id.includes(part)));
  const isReal = bundles.every(({ code }) => code.length > 200);
  const isLoose = bytes < maxBytes * 0.99;
  const ok = isReal && bytes <= maxBytes && !isLoose && found.length + unwanted.length === 0;
  const byEsbuild = process.argv.includes("--esbuild") ? await esbuildBytes([...documents, ...sources]) : "";
  const goal = bytes > goalBytes ? `, ${bytes - goalBytes} above the goal of ${goalBytes}` : "";
  const loose = isLoose ? ", more than 1 % below its budget: lower it" : "";
  const contained = [...found, ...unwanted].map((each) => `, contains ${each}`).join("");
  const sizes = `${String(bytes).padStart(6)} of ${String(maxBytes).padStart(6)} bytes min+gzip${byEsbuild}${loose}`;
  console.log(`${ok ? "✓" : "✗"} ${name.padEnd(19)} ${sizes}${goal}${contained}`);
  return ok;
}

/** @param {readonly string[]} sources */
async function esbuildBytes(sources) {
  if (sources.some((source) => source.includes("worker-host"))) return "";
  const codes = await Promise.all(sources.map(esbuildBundle));
  return `, by esbuild ${codes.reduce((sum, code) => sum + gzipBytes(code), 0)}`;
}

/** @param {string | undefined} wanted */
async function profile(wanted) {
  const budget = budgets.find(({ name }) => name === wanted);
  if (!budget)
    throw new Error(`There is no budget ${wanted}; there are ${budgets.map(({ name }) => name).join(", ")}.`);
  const { documents = [], sources } = budget;
  for (const source of [...documents, ...sources]) {
    console.log(source);
    for (const { id, bytes } of await profileOf(await viteBundle(source, documents.includes(source))))
      console.log(String(bytes).padStart(7), id);
  }
}

process.stdout.on("error", () => {}); // Whoever reads may have read enough: `| head -1`.
const at = process.argv.indexOf("--profile");
if (at > 0) await profile(process.argv[at + 1]);
else {
  const results = [];
  for (const budget of budgets) results.push(await check(budget));
  process.exitCode = results.includes(false) ? 1 : 0;
}

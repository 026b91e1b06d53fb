// Runs each benchmark in test/bench and test/peers in a process of its own, so that one does not warm up the engine for the next.
// `npm run bench schema` runs those with `schema` in their name. One in test/peers gets its packages first. What follows a further
// `--` goes to the benchmarks: `npm run bench:schema -- -- node`.
import { globSync } from "node:fs";
import { root, run } from "./project.mjs";

const words = process.argv.slice(2);
const end = words.includes("--") ? words.indexOf("--") : words.length;
const [wanted, args] = [words.slice(0, end), words.slice(end + 1)];
const files = globSync(["test/bench/**/*.bench.{ts,mjs}", "test/peers/*/*.bench.ts"], { cwd: root }).sort();
const chosen = files.filter((path) => wanted.length === 0 || wanted.some((word) => path.includes(word)));
if (chosen.length === 0) {
  console.log(`no benchmark is named so; there are:\n${files.join("\n")}`);
  process.exitCode = 1;
}
for (const path of chosen) {
  console.log(`\n# ${path}`);
  const [, peer] = /^test[\\/]peers[\\/]([^\\/]+)/.exec(path) ?? [];
  const installed = peer === undefined ? 0 : (await run("node", ["scripts/peers.mjs", peer])).code;
  if (installed !== 0) {
    process.exitCode = 1;
    continue;
  }
  const { code } = await run("node", ["--expose-gc", "--conditions=keyhole-source", path, ...args]);
  if (code !== 0) process.exitCode = 1;
}

// Runs each benchmark in test/bench in a process of its own, so that one does not warm up the engine for the next.
// `npm run bench schema` runs those with `schema` in their name.
import { globSync } from "node:fs";
import { root, run } from "./project.mjs";

const wanted = process.argv.slice(2);
const files = globSync("test/bench/**/*.bench.{ts,mjs}", { cwd: root }).sort();
const chosen = files.filter((path) => wanted.length === 0 || wanted.some((word) => path.includes(word)));
if (chosen.length === 0) {
  console.log(`no benchmark is named so; there are:\n${files.join("\n")}`);
  process.exitCode = 1;
}
for (const path of chosen) {
  console.log(`\n# ${path}`);
  const { code } = await run("node", ["--expose-gc", "--conditions=keyhole-source", path]);
  if (code !== 0) process.exitCode = 1;
}

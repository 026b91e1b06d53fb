// Compares the benchmarks of the working tree with those of another commit, on this machine, in turns. Prints each figure that
// became 10 % worse first. A timing never fails a run: the exit code is 0.
//
//   npm run bench:compare -- main              all benchmarks, three rounds
//   npm run bench:compare -- main canonical    those with `canonical` in their name
//   npm run bench:compare -- main --rounds 5
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compared } from "./bench/figures.mjs";
import { root, run } from "./project.mjs";

const WORSE = 0.1;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "3" } },
});
const [base, ...names] = positionals;
const rounds = Number(values.rounds);
if (base === undefined || !Number.isInteger(rounds) || rounds < 1) {
  console.error("Usage: npm run bench:compare -- BASE [NAME…] [--rounds N]. BASE is a commit or branch.");
  process.exit(2);
}

/** @param {string} folder @param {string} path */
function linkPackages(folder, path) {
  const from = join(root, path, "node_modules");
  mkdirSync(join(folder, path, "node_modules"), { recursive: true });
  for (const name of readdirSync(from)) {
    // Our own packages are those of the base, and not those of the working tree.
    if (name === "@keyhole" || name === "keyhole") continue;
    symlinkSync(join(from, name), join(folder, path, "node_modules", name));
  }
}

/** @param {string} folder */
function linkOwnPackages(folder) {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@keyhole"));
  for (const name of readdirSync(join(folder, "packages"))) {
    symlinkSync(
      join(folder, "packages", name),
      name === "keyhole" ? join(modules, name) : join(modules, "@keyhole", name),
    );
  }
}

/** @param {string} folder @param {string} file @returns {Promise<string>} what the benchmark prints */
async function measured(folder, file) {
  const { code, output } = await run("node", ["--expose-gc", "--conditions=keyhole-source", join(folder, file)], {
    capture: true,
  });
  if (code === 0) return output;
  console.error(output);
  throw new Error(`${file} failed in ${folder === root ? "the working tree" : base}.`);
}

const folder = mkdtempSync(join(tmpdir(), "keyhole-base-"));
execFileSync("git", ["worktree", "add", "--detach", "--quiet", folder, base], { cwd: root });
try {
  for (const path of ["", ...globSync(["packages/*/node_modules", "test/peers/*/node_modules"], { cwd: root })])
    linkPackages(folder, path.replace(/\/?node_modules$/, ""));
  linkOwnPackages(folder);
  const files = globSync(["test/bench/**/*.bench.ts", "test/peers/*/*.bench.ts"], { cwd: root })
    .filter((path) => names.length === 0 || names.some((name) => path.includes(name)))
    .sort();
  if (files.length === 0) console.error(`No benchmark has ${names.join(" or ")} in its name.`);
  for (const file of files) await compare(file);
} finally {
  execFileSync("git", ["worktree", "remove", "--force", folder], { cwd: root });
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} file */
async function compare(file) {
  /** @type {{ base: string[], head: string[] }} */
  const outputs = { base: [], head: [] };
  for (let round = 0; round < rounds; round++) {
    outputs.base.push(await measured(folder, file));
    outputs.head.push(await measured(root, file));
  }
  const rows = compared(outputs.base, outputs.head);
  const worse = rows.filter(({ change }) => change >= WORSE);
  console.log(`\n# ${file}: ${worse.length} of ${rows.length} figures at least 10 % worse than ${base}`);
  for (const { label, unit, base: from, head: to, change } of rows) {
    const sign = change >= 0 ? "+" : "−";
    const mark = change >= WORSE ? "✗" : " ";
    console.log(
      `${mark} ${sign}${Math.abs(change * 100)
        .toFixed(0)
        .padStart(3)} %  ${from} → ${to} ${unit}  ${label}`,
    );
  }
}

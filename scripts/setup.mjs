// Installs what is missing, and nothing else. Runs on Node 20 with no dependencies, because it runs before there are any.
//
//   node scripts/setup.mjs                     packages and Node 24
//   node scripts/setup.mjs --browser           and the browsers that `npm test` drives
//   node scripts/setup.mjs … --run FILE ARG…   then runs a script of this project with that Node
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium } from "./chromium.mjs";
import { engines, testTools } from "./engines.mjs";
import { attempt, packagesAreInstalled, say } from "./install.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const nodeMajorNeeded = 24;

/** @param {string} text @returns {never} */
function giveUp(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

/** @type {typeof attempt} */
async function run(...command) {
  const failure = await attempt(...command);
  return failure === undefined ? undefined : giveUp(failure);
}

/** The environment without this project's own `node`, which `npm ci` removes while it runs. */
function systemEnvironment() {
  const own = join("node_modules", ".bin");
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((part) => !part.endsWith(own));
  return { ...process.env, PATH: path.join(delimiter) };
}

async function ensurePackages() {
  if (packagesAreInstalled(root)) return false;
  const args = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("installing packages", "npm", args, systemEnvironment());
  return true;
}

/** @param {boolean} justInstalled */
function ensureNode(justInstalled) {
  const bundled = join(root, "node_modules", ".bin", "node");
  if (existsSync(bundled)) {
    if (!justInstalled) return;
    const answer = spawnSync(bundled, ["--version"], { encoding: "utf8" });
    if (answer.status === 0) return say(`  Node ${answer.stdout.trim().slice(1)} comes with the packages`);
    giveUp(`The bundled Node ${nodeMajorNeeded} does not run here (it needs glibc): use a Debian-based image.`);
  }
  const [major = "0"] = process.versions.node.split(".");
  if (Number(major) >= nodeMajorNeeded) return;
  giveUp(
    `Node ${nodeMajorNeeded} or newer is needed, this is ${process.versions.node}: install it from https://nodejs.org/ and try again.`,
  );
}

function isDebian() {
  try {
    return /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));
  } catch {
    return false;
  }
}

async function ensureTestParts() {
  const missing = [...engines, ...testTools].filter(({ isHere }) => !isHere());
  if (missing.length === 0) return;
  const needed = missing.some((part) => part.needed);
  const chosen = process.env["KEYHOLE_CHROMIUM"];
  if (needed && chosen) giveUp(`KEYHOLE_CHROMIUM names ${chosen}, which does not exist.`);
  if (!isDebian() || process.getuid?.() !== 0) {
    if (!needed) return; // `npm test` says what it does without.
    if (!isDebian()) giveUp("The tests need Chromium or Chrome: install one, or set KEYHOLE_CHROMIUM to its path.");
    giveUp("The tests need Chromium: run `sudo apt-get install chromium`, or set KEYHOLE_CHROMIUM to its path.");
  }
  await install(missing);
  if (findChromium() === undefined)
    giveUp("Debian's package `chromium` was installed, but there is no /usr/bin/chromium.");
}

/** @param {readonly import("./engines.mjs").Part[]} missing */
async function install(missing) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const unread = await attempt("reading Debian's package lists", "apt-get", ["update", "-qq"], env);
  if (unread !== undefined && missing.some(({ needed }) => needed)) giveUp(unread);
  for (const { title, packages, needed } of missing) {
    const args = ["install", "-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=60", ...packages];
    const failure = await attempt(`installing ${title}`, "apt-get", args, env);
    if (failure === undefined) continue;
    if (needed) giveUp(failure);
    say(`  ${title} cannot be installed: ${failure.split("\n")[0]}`);
  }
}

/**
 * Runs a script with the Node of this project, and ends with its exit code. Signals are passed on: the shell between npm and
 * a second npm would keep them to itself.
 *
 * @param {readonly string[]} command
 */
function runScript(command) {
  const bundled = join(root, "node_modules", ".bin", "node");
  const child = spawn(existsSync(bundled) ? bundled : process.execPath, command, { cwd: root, stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("close", (code) => (process.exitCode = code ?? 1));
}

const args = process.argv.slice(2);
const runAt = args.indexOf("--run");
ensureNode(await ensurePackages());
if (args.slice(0, runAt < 0 ? args.length : runAt).includes("--browser")) await ensureTestParts();
if (runAt >= 0) runScript(args.slice(runAt + 1));

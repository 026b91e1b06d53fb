// Installs packages and shows progress. Runs on Node 20 with no dependencies, because it runs before there are any.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @param {string} text */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** @param {string} path */
function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
  } catch {
    return undefined;
  }
}

/**
 * Whether node_modules holds the versions that the lock names. npm writes its own lock there as the last step.
 *
 * @param {string} folder with package-lock.json and node_modules
 */
export function packagesAreInstalled(folder) {
  const wanted = readLock(join(folder, "package-lock.json"));
  const installed = readLock(join(folder, "node_modules", ".package-lock.json"));
  if (wanted === undefined || installed === undefined) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const found = installed[path];
    if (found === undefined) return entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/**
 * Runs a command without stdin and says every few seconds that it still goes on.
 *
 * @param {string} title
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {string} [cwd]
 * @returns {Promise<string | undefined>} what went wrong
 */
export async function attempt(title, command, args, env, cwd = root) {
  say(`${title} …`);
  const startedAt = Date.now();
  const elapsed = () => `${((Date.now() - startedAt) / 1000).toFixed(0)} s`;
  const ticker = setInterval(() => say(`  ${title}: ${elapsed()}`), 10_000);
  /** @type {string[]} */
  const output = [];
  const code = await new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    child.stdout.on("data", (chunk) => output.push(String(chunk)));
    child.stderr.on("data", (chunk) => output.push(String(chunk)));
    child.on("error", (error) => (output.push(error.message), resolve(1)));
    child.on("close", resolve);
  });
  clearInterval(ticker);
  if (code !== 0) return `${output.join("").trimEnd()}\n${title} failed: ${command} ${args.join(" ")} (exit ${code})`;
  say(`  done in ${elapsed()}`);
  return undefined;
}

const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
// The .npmrc of the root is not read in another folder: npm takes the one beside the package.json.
const lockOnly = ["install", "--package-lock-only", "--omit-lockfile-registry-resolved", ...quiet];

/**
 * Installs the packages of a folder with a lock of its own, when they are missing or not those of the lock. Ends this process with
 * the reason where that fails.
 *
 * @param {string} title of the packages, as in `installing TITLE`
 * @param {string} folder
 * @param {{ relock?: boolean }} [options] `relock` writes the lock again, and installs nothing
 */
export async function installFolder(title, folder, { relock = false } = {}) {
  if (!relock && packagesAreInstalled(folder)) return;
  const args = relock ? lockOnly : ["ci", ...quiet];
  const failure = await attempt(`${relock ? "locking" : "installing"} ${title}`, "npm", args, process.env, folder);
  if (failure === undefined) return;
  console.error(failure);
  process.exit(1);
}

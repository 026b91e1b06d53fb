// The second half of `npm start`: builds what is stale, and is `keyhole dev --edge` on the playground's own folder of tools.
import { globSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { isFree } from "../packages/edge/src/dev/start-settings.ts";
import { root } from "./project.mjs";
import { buildAll, isBuilt } from "./serve/build.mjs";
import { isRunning, starters } from "./serve/processes.mjs";

const places = [
  { what: "playground", variable: "KEYHOLE_PORT", fallback: 8700, option: "--page-port" },
  { what: "edge", variable: "KEYHOLE_EDGE_PORT", fallback: 8701, option: "--port" },
];

/** A signal to npm alone ends npm and its shell, and is not handed on to us. */
function endWithStarters() {
  const parent = process.ppid;
  const watched = starters();
  const look = () => {
    if (process.ppid !== parent || !watched.every(isRunning)) process.kill(process.pid, "SIGTERM");
  };
  setInterval(look, 1_000).unref();
}

/** @returns {Promise<string[]>} the options that name the ports */
async function choosePorts() {
  /** @type {Map<number, string>} */
  const ports = new Map();
  for (const { what, variable, fallback, option } of places) {
    const chosen = process.env[variable];
    const port = chosen ? Number(chosen) : fallback;
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Error(`${variable} is ${chosen}: a port is a number from 1 to 65535.`);
    if (ports.has(port)) throw new Error(`Port ${port} is wanted twice: set ${variable} to another one.`);
    if (!(await isFree(port))) throw new Error(`Port ${port} (${what}) is taken: set ${variable} to another one.`);
    ports.set(port, option);
  }
  return [...ports].flatMap(([port, option]) => [option, String(port)]);
}

async function main() {
  const ports = await choosePorts();
  if (!isBuilt()) {
    process.stdout.write("building the playground and the edge …\n");
    await buildAll();
  }
  // npm would call the end by a signal a failure.
  process.on("exit", (code) => void (process.exitCode = [129, 130, 143].includes(code) ? 0 : code));
  process.chdir(root);
  // A module of WebAssembly has a folder in it.
  const folders = ["", "*/"].flatMap((path) => globSync(`packages/playground/src/tools/${path}`));
  const options = ["--built-in", "--policy", "packages/playground/policy.json"];
  const state = ["--state", process.env["KEYHOLE_STATE"] || join(".wrangler", "state")];
  process.argv.splice(2, Infinity, "dev", "--edge", ...folders, ...options, ...ports, ...state);
  // Else esbuild keeps a process for its synchronous builds, which has the environment of now: the token.
  process.env["ESBUILD_WORKER_THREADS"] = "0";
  await import("./source.mjs");
  await import("../packages/keyhole/src/cli.ts");
}

endWithStarters();
main().catch((/** @type {unknown} */ reason) => {
  process.stderr.write(`${reason instanceof Error ? reason.message : String(reason)}\n`);
  process.exit(1);
});

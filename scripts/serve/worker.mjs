// Runs one Worker for as long as all of its processes live: `KEYHOLE_WORKER=… node worker.mjs`. The setting is JSON, see `WorkerOptions`. `wrangler dev` cannot be
// told to open no inspector, which takes a WebSocket of any page and evaluates in the kernel; wrangler's programming interface can.
import { subscribe } from "node:diagnostics_channel";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { unstable_readConfig as readConfig, unstable_startWorker as startWorker } from "wrangler";

/**
 * @typedef {object} WorkerOptions
 * @property {string} config wrangler's configuration
 * @property {string} [env] an environment of it
 * @property {number} port
 * @property {string} state where local storage is kept
 * @property {string} registry where the Workers of one run find each other
 * @property {Readonly<Record<string, string>>} vars
 * @property {boolean} mendsItself whether others find their way to its runtime when wrangler has started that again
 */

/** wrangler starts a runtime that died again in about two seconds, or not at all. Later than this all of its processes start again, which mends both. */
const recoveryMs = 6_000;

/** Not an argument: everybody on the machine can read those. @type {WorkerOptions} */
const { config, env, port, state, registry, vars, mendsItself } = JSON.parse(process.env["KEYHOLE_WORKER"] ?? "");
delete process.env["KEYHOLE_WORKER"];

let isServing = false;
let isEnding = false;

/** @param {import("node:child_process").ChildProcess} child */
function watchPart(child) {
  const command = child.spawnargs?.join(" ") ?? "";
  if (!/workerd\S* serve /.test(command)) return;
  child.once("exit", () => {
    if (isEnding) return;
    // One that dies while it starts is not started again, nor is a proxy told where its runtime is: who started us starts all of it again.
    if (!(mendsItself && isServing && command.includes("--debug-port"))) end(1);
    isServing = false;
    void untilServing().then((serves) => serves || giveUp());
  });
}

async function untilServing() {
  const giveUpAt = Date.now() + recoveryMs;
  while (Date.now() < giveUpAt) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(1_000) });
      await response.body?.cancel();
      if (response.ok) return (isServing = true);
    } catch {
      // Not yet.
    }
    await delay(25);
  }
  return false;
}

function giveUp() {
  process.stderr.write(`The runtime died, and wrangler's next one did not answer within ${recoveryMs / 1_000} s.\n`);
  end(1);
}

/** Ends without a word to wrangler: the guard ends what it started. @param {number} code */
function end(code) {
  isEnding = true;
  process.exit(code);
}

subscribe("child_process", (message) => {
  const { process: child } = /** @type {{ process: import("node:child_process").ChildProcess }} */ (message);
  // It has no arguments yet.
  queueMicrotask(() => watchPart(child));
});

// Whoever had this name before was killed, and did not say that it has gone: wrangler would not take its place for five minutes.
const { name = "" } = readConfig({ config, ...(env !== undefined && { env }) });
rmSync(join(registry, name), { force: true });

const worker = await startWorker({
  config,
  ...(env !== undefined && { env }),
  bindings: Object.fromEntries(Object.entries(vars).map(([key, value]) => [key, { type: "plain_text", value }])),
  dev: {
    remote: false,
    server: { hostname: "127.0.0.1", port },
    inspector: false,
    persist: state,
    registry,
    logLevel: "warn",
  },
});
isServing = true;

process
  .on("SIGTERM", () => {
    isEnding = true;
    void worker.dispose().finally(() => process.exit(0));
  })
  .on("SIGINT", () => {});

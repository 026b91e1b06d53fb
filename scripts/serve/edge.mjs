import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchKernel } from "./kernel-watch.mjs";
import { untilReady } from "./readiness.mjs";
import { Unit } from "./unit.mjs";
import { startWatchdog } from "./watchdog.mjs";

/** Everything that a person at the playground does. */
export const allScopes = ["tools:read", "tools:call", "audit:read", "content:read", "approvals:write", "policy:read"];

const ownConfigs = { kernel: "wrangler.toml", sandbox: "packages/edge/wrangler.sandbox.toml" };

/**
 * @typedef {object} Edge
 * @property {string} url of the kernel
 * @property {Promise<string>} failed resolves with the reason when a part ended and does not come back
 * @property {() => number} sandboxKills how often the watchdog had to end the sandbox
 * @property {() => readonly number[]} pids of the guards
 * @property {() => Promise<void>} stop
 */

/**
 * Starts the edge as `npm start` does: kernel and sandbox in two processes, and the watchdog in this one. Resolves when calls are served.
 *
 * @param {object} options
 * @param {number} options.port
 * @param {number} options.sandboxPort
 * @param {Readonly<Record<string, { subject: string, scopes: readonly string[], tenant?: string }>>} options.tokens by the token itself
 * @param {readonly string[]} [options.origins] that may call from a page
 * @param {object} [options.policy] in place of the bundled one
 * @param {{ kernel: string, sandbox: string }} [options.configs] wrangler configurations in place of the project's own
 * @param {string} [options.state] where log and files are kept; without it they go with the edge
 * @returns {Promise<Edge>}
 */
export async function startEdge({ port, sandboxPort, tokens, origins = [], policy, configs = ownConfigs, state }) {
  const scratch = mkdtempSync(join(tmpdir(), "keyhole-"));
  /** @type {(reason: string) => void} */
  let fail = () => {};
  /** @type {Promise<string>} */
  const failed = new Promise((resolve) => (fail = resolve));
  const sandbox = new Unit({
    name: "The sandbox",
    // Two workerd on one storage folder lock each other out; the sandbox keeps nothing anyway.
    start: { config: configs.sandbox, port: sandboxPort, state: join(scratch, "sandbox"), scratch, mendsItself: true },
    alive: "/healthz",
    onLost: fail,
  });
  const watchdog = await startWatchdog(sandbox);
  const vars = {
    KEYHOLE_TOKENS: JSON.stringify(hashedTokens(tokens)),
    KEYHOLE_ORIGINS: origins.join(" "),
    KEYHOLE_WATCHDOG: watchdog.url,
    ...(policy && { KEYHOLE_POLICY: JSON.stringify(policy) }),
  };
  const kernel = new Unit({
    name: "The kernel",
    start: { config: configs.kernel, env: "local", port, vars, state: state ?? join(scratch, "kernel"), scratch },
    alive: "/livez",
    onLost: fail,
  });
  let endWatch = () => {};

  const stop = async () => {
    endWatch();
    await watchdog.stop();
    await Promise.all([kernel.stop(), sandbox.stop()]);
    rmSync(scratch, { recursive: true, force: true });
  };
  try {
    await Promise.all([sandbox.ready(), kernel.ready()]);
    await untilReady(kernel.url);
    for (const unit of [sandbox, kernel]) unit.keep();
    watchdog.watch();
    endWatch = watchKernel(kernel, sandbox);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: kernel.url,
    failed,
    sandboxKills: () => sandbox.runtimeKills,
    pids: () => [kernel.process.pid, sandbox.process.pid],
    stop,
  };
}

/** @param {Readonly<Record<string, object>>} tokens */
function hashedTokens(tokens) {
  return Object.fromEntries(
    Object.entries(tokens).map(([token, identity]) => [createHash("sha256").update(token).digest("hex"), identity]),
  );
}

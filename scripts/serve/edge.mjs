import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWatchdog } from "./watchdog.mjs";
import { startWorker, untilHealthy } from "./wrangler.mjs";

/** Everything that a person at the playground does. */
export const allScopes = ["tools:read", "tools:call", "audit:read", "content:read", "approvals:write", "policy:read"];

const ownConfigs = { kernel: "wrangler.toml", sandbox: "packages/edge/wrangler.sandbox.toml" };

/**
 * @typedef {object} Edge
 * @property {string} url of the kernel
 * @property {Promise<string>} failed resolves with the reason when a part ended that should not have
 * @property {() => number} sandboxKills how often the watchdog had to end the sandbox
 * @property {readonly number[]} pids of the guards
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
  // Two workerd on one storage folder lock each other out; the sandbox keeps nothing anyway.
  const sandbox = startWorker({ config: configs.sandbox, port: sandboxPort, state: join(scratch, "sandbox"), scratch });

  /** @type {(reason: string) => void} */
  let fail = () => {};
  /** @type {Promise<string>} */
  const failed = new Promise((resolve) => (fail = resolve));
  const watchdog = await startWatchdog(sandbox, fail);
  const vars = {
    KEYHOLE_TOKENS: JSON.stringify(hashedTokens(tokens)),
    KEYHOLE_ORIGINS: origins.join(" "),
    KEYHOLE_WATCHDOG: watchdog.url,
    ...(policy && { KEYHOLE_POLICY: JSON.stringify(policy) }),
  };
  const kernel = startWorker({
    config: configs.kernel,
    env: "local",
    port,
    vars,
    state: state ?? join(scratch, "kernel"),
    scratch,
  });

  const stop = async () => {
    await watchdog.stop();
    await Promise.all([kernel.process.stop(), sandbox.process.stop()]);
    rmSync(scratch, { recursive: true, force: true });
  };
  try {
    await Promise.all([untilHealthy(sandbox, "The sandbox"), untilHealthy(kernel, "The kernel")]);
    watchdog.watch();
  } catch (error) {
    await stop();
    throw error;
  }
  void kernel.process.exited.then(() => fail(`The kernel's process ended:\n${kernel.process.output()}`));
  void sandbox.process.exited.then(() => fail(`The sandbox's process ended:\n${sandbox.process.output()}`));
  return {
    url: kernel.url,
    failed,
    sandboxKills: watchdog.kills,
    pids: [kernel.process.pid, sandbox.process.pid],
    stop,
  };
}

/** @param {Readonly<Record<string, object>>} tokens */
function hashedTokens(tokens) {
  return Object.fromEntries(
    Object.entries(tokens).map(([token, identity]) => [createHash("sha256").update(token).digest("hex"), identity]),
  );
}

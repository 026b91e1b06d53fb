import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { descendants } from "./processes.mjs";
import { isHealthy } from "./wrangler.mjs";

/** How long a nudged sandbox may take for an answer that is otherwise there in 2 ms. */
const nudgePatienceMs = 400;
/** Without a nudge: long, because a tool that computes within its own deadline also holds the sandbox up. */
const heartbeatPatienceMs = 30_000;
const heartbeatEveryMs = 1_000;
const recoveryMs = 15_000;

/**
 * @typedef {object} Watchdog
 * @property {string} url a POST to `suspected` below it asks for a look at the sandbox right now, one to `certain` for its end
 * @property {() => void} watch begins; to be called when the sandbox has answered once
 * @property {() => number} kills
 * @property {() => Promise<void>} stop
 */

/**
 * Watches the sandbox from outside. workerd cannot interrupt a tool that spins, and the whole process stands still with it; so somebody else has to end
 * that process. wrangler starts a new one at once, and the kernel finds its way there. It ends nothing before `watch`: a sandbox that starts does not
 * answer either, and wrangler gives up where its runtime goes away under it then.
 *
 * @param {import("./wrangler.mjs").Worker} sandbox
 * @param {(problem: string) => void} onLost called when the sandbox did not come back
 * @returns {Promise<Watchdog>}
 */
export async function startWatchdog(sandbox, onLost) {
  let kills = 0;
  let watching = false;
  let recovering = false;
  let stopped = false;

  /** @param {number} patienceMs */
  async function look(patienceMs) {
    // A nudge may find a heartbeat waiting patiently for an answer: it looks for itself.
    if (!watching || recovering || stopped || (await isHealthy(sandbox.url, patienceMs))) return;
    await restart();
  }

  async function restart() {
    if (!watching || recovering || stopped) return;
    recovering = true;
    kills += killRuntime(sandbox);
    const deadline = Date.now() + recoveryMs;
    while (!stopped && !(await isHealthy(sandbox.url, 500))) {
      if (Date.now() > deadline) return onLost("The sandbox does not come back after it was restarted.");
      await delay(25);
    }
    recovering = false;
  }

  let beating = false;
  async function heartbeat() {
    if (beating) return;
    beating = true;
    await look(heartbeatPatienceMs);
    beating = false;
  }

  // Only who knows the path can ask; it is told to nobody but the kernel.
  const path = `/${randomUUID()}`;
  const asks = new Map([
    [`${path}/suspected`, () => look(nudgePatienceMs)],
    [`${path}/certain`, restart],
  ]);
  const server = createServer((request, response) => {
    const ask = request.method === "POST" ? asks.get(request.url ?? "") : undefined;
    void ask?.();
    response.writeHead(ask ? 202 : 404).end();
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", () => resolve(undefined));
  });
  const timer = setInterval(() => void heartbeat(), heartbeatEveryMs);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  return {
    url: `http://127.0.0.1:${port}${path}`,
    watch: () => (watching = true),
    kills: () => kills,
    async stop() {
      stopped = true;
      clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Kills the workerd that runs the sandbox, and leaves the one in front of it that holds the port.
 *
 * @param {import("./wrangler.mjs").Worker} sandbox
 * @returns {number} how many processes that were
 */
function killRuntime({ url, process: { pid } }) {
  const front = `:${new URL(url).port} `;
  const runtimes = descendants(pid).filter(
    ({ command }) => /workerd\S* serve /.test(command) && !command.includes(front),
  );
  for (const runtime of runtimes) {
    try {
      process.kill(runtime.pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
  return runtimes.length;
}

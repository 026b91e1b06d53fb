import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { isAnswering } from "./wrangler.mjs";

/** How long a nudged sandbox may take for an answer that is otherwise there in 2 ms. */
const nudgePatienceMs = 400;
/** Without a nudge: long, because a tool that computes within its own deadline also holds the sandbox up. */
const heartbeatPatienceMs = 30_000;
const heartbeatEveryMs = 1_000;

/**
 * @typedef {object} Watchdog
 * @property {string} url a POST to `suspected` below it asks for a look at the sandbox right now, one to `certain` for its end
 * @property {() => void} watch begins; to be called when the sandbox has answered once
 * @property {() => Promise<void>} stop
 */

/**
 * Watches the sandbox from outside. workerd cannot interrupt a tool that spins, and the whole process stands still with it; so somebody else has to end
 * that process. Another one takes its place, and the kernel finds its way there. It ends nothing before `watch`: a sandbox that starts does not
 * answer either, and wrangler gives up where its runtime goes away under it then.
 *
 * @param {{ readonly url: string, restartRuntime(): Promise<unknown> }} sandbox
 * @returns {Promise<Watchdog>}
 */
export async function startWatchdog(sandbox) {
  let watching = false;
  let recovering = false;
  let stopped = false;

  /** @param {number} patienceMs */
  async function look(patienceMs) {
    // A nudge may find a heartbeat waiting patiently for an answer: it looks for itself.
    if (!watching || recovering || stopped || (await isAnswering(`${sandbox.url}/healthz`, patienceMs))) return;
    await restart();
  }

  async function restart() {
    if (!watching || recovering || stopped) return;
    recovering = true;
    await sandbox.restartRuntime();
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
    async stop() {
      stopped = true;
      clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

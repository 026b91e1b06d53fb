import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import { isAnswering } from "./asking.ts";

/** How long a nudged sandbox may take for an answer that is otherwise there in 2 ms. */
const nudgePatienceMs = 400;
/** Without a nudge: long, because a tool that computes within its own deadline also holds the sandbox up. */
const heartbeatPatienceMs = 30_000;
const heartbeatEveryMs = 1_000;

export interface Watchdog {
  /** A POST to `suspected` below it asks for a look at the sandbox right now, one to `certain` for its end. */
  readonly url: string;
  /** How many sandboxes it has ended. */
  readonly kills: number;
  /** Begins; to be called when the sandbox has answered once. */
  watch(): void;
  stop(): Promise<void>;
}

/**
 * Watches the sandbox from outside. workerd cannot interrupt a tool that spins, and the whole process stands still with it; so somebody else has to end
 * that process. Another one takes its place, and the kernel finds its way there.
 */
export async function startWatchdog(sandbox: { readonly url: string; restart(): Promise<void> }): Promise<Watchdog> {
  let watching = false;
  let recovering = false;
  let kills = 0;

  async function look(patienceMs: number): Promise<void> {
    // A nudge may find a heartbeat waiting patiently for an answer: it looks for itself.
    if (!watching || recovering) return;
    const { url } = sandbox;
    // One that has ended meanwhile is started again without us.
    if (!(await isAnswering(`${url}/healthz`, patienceMs)) && url === sandbox.url) await restart();
  }

  async function restart(): Promise<void> {
    if (!watching || recovering) return;
    recovering = true;
    kills++;
    await sandbox.restart();
    recovering = false;
  }

  let beating = false;
  async function heartbeat(): Promise<void> {
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
  const port = await listening(server);
  const timer = setInterval(() => void heartbeat(), heartbeatEveryMs);
  return {
    url: `http://127.0.0.1:${port}${path}`,
    get kills() {
      return kills;
    },
    watch: () => void (watching = true),
    async stop() {
      watching = false;
      clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** On any port of the loopback address. */
async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

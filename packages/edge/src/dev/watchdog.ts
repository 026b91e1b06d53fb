import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { isAnswering } from "./asking.ts";

/** How often a nudged sandbox is looked at that has not answered; otherwise its answer is there in 2 ms. */
const nudgeLookMs = 100;
/** How long a nudged sandbox may compute without an answer. Its own time counts: on a busy machine it waits for its turn, and answers then. */
const nudgeComputedMs = 300;
/** How long one may take that computes little and answers nothing. Also the patience where the platform does not say how long it computes. */
const nudgePatienceMs = { computing: 4_000, unknown: 400 };
/** Without a nudge: long, because a tool that computes within its own deadline also holds the sandbox up. */
const heartbeatPatienceMs = 30_000;
const heartbeatEveryMs = 1_000;

export interface Watchdog {
  /** A POST to `suspected/0` below it asks for a look at the first sandbox right now, one to `certain/0` for its end. */
  readonly url: string;
  /** How many sandboxes it has ended. */
  readonly kills: number;
  /** Begins; to be called when the sandbox has answered once. */
  watch(): void;
  stop(): Promise<void>;
}

/** One of the sandboxes. */
interface Sandbox {
  readonly url: string;
  /** Milliseconds that its process has computed so far; `undefined` where nothing says so. */
  readonly computedMs: number | undefined;
  restart(): Promise<void>;
}

/** Looks after one sandbox. */
class Guard {
  readonly #sandbox: Sandbox;
  #recovering = false;
  #nudged = false;
  #stopped = false;
  #beating = false;
  kills = 0;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** A nudge may find a heartbeat waiting patiently for an answer: it looks for itself. */
  async nudge(): Promise<void> {
    if (this.#nudged) return;
    this.#nudged = true;
    await this.#look((url) => this.#answersSoon(url));
    this.#nudged = false;
  }

  async beat(): Promise<void> {
    if (this.#beating) return;
    this.#beating = true;
    await this.#look((url) => isAnswering(url, heartbeatPatienceMs));
    this.#beating = false;
  }

  async #look(answers: (url: string) => Promise<boolean>): Promise<void> {
    if (this.#recovering) return;
    const { url } = this.#sandbox;
    // An ended one starts again without this code.
    if (!(await answers(`${url}/healthz`)) && url === this.#sandbox.url) await this.end();
  }

  async #answersSoon(url: string): Promise<boolean> {
    const { computedMs: before } = this.#sandbox;
    if (before === undefined) return isAnswering(url, nudgePatienceMs.unknown);
    const answer = isAnswering(url, nudgePatienceMs.computing);
    for (;;) {
      const isThere = await Promise.race([answer, delay(nudgeLookMs)]);
      if (isThere !== undefined) return isThere;
      const { computedMs } = this.#sandbox;
      if (computedMs !== undefined && computedMs - before >= nudgeComputedMs) return false;
    }
  }

  /** A look in progress no longer ends a process. */
  stop(): void {
    this.#stopped = true;
  }

  async end(): Promise<void> {
    if (this.#recovering || this.#stopped) return;
    this.#recovering = true;
    this.kills++;
    await this.#sandbox.restart();
    this.#recovering = false;
  }
}

/**
 * Watches the sandboxes from outside. workerd cannot interrupt a tool that spins, and the whole process stands still with it; so another process has to end
 * that process. Another one takes its place, and the kernel finds its way there.
 */
export async function startWatchdog(sandboxes: readonly Sandbox[]): Promise<Watchdog> {
  const guards = sandboxes.map((sandbox) => new Guard(sandbox));
  let watching = false;
  // Only a client that knows the path can ask, and only the kernel knows it.
  const path = `/${randomUUID()}`;
  const asks = new Map<string, () => Promise<void>>(
    guards.flatMap((guard, at) => [
      [`${path}/suspected/${at}`, () => guard.nudge()] as const,
      [`${path}/certain/${at}`, () => guard.end()] as const,
    ]),
  );
  const server = createServer((request, response) => {
    const ask = request.method === "POST" ? asks.get(request.url ?? "") : undefined;
    if (watching) void ask?.();
    response.writeHead(ask ? 202 : 404).end();
  });
  const port = await listening(server);
  const beat = (): void => {
    if (watching) for (const guard of guards) void guard.beat();
  };
  const timer = setInterval(beat, heartbeatEveryMs);
  return {
    url: `http://127.0.0.1:${port}${path}`,
    get kills() {
      return guards.reduce((sum, guard) => sum + guard.kills, 0);
    },
    watch: () => void (watching = true),
    async stop() {
      watching = false;
      for (const guard of guards) guard.stop();
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

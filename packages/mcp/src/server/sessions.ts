import type { Clock } from "@keyhole/kernel";
import { Shares } from "@keyhole/kernel/context";
import type { OptionNames } from "@keyhole/kernel/foreign";
import { type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { type ChangedList, tellOf } from "./changed-lists.ts";
import { authInfoOf, hasSameAuthority, isSameCaller, type McpCaller, nameOf } from "./caller.ts";

export interface SessionLimits {
  /** Sessions of all callers. Beyond, the caller with the most loses the one that rests longest. Default 1,000. */
  readonly sessions?: number;
  /** Sessions of one caller. Beyond, the one that rests longest ends. Default 100. */
  readonly sessionsPerCaller?: number;
  /** A session that was not used for so long ends. Default 1,800,000. */
  readonly sessionIdleMs?: number;
}

export const sessionLimits: OptionNames<SessionLimits> = { sessions: 1, sessionsPerCaller: 1, sessionIdleMs: 1 };

interface Session {
  readonly caller: McpCaller;
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsedMs: number;
}

/** Sessions of 2025-11-25 over HTTP. Each belongs to the caller and the grants that opened it; for any other there is none of its id. */
export class Sessions {
  /** The one that rests longest comes first. */
  readonly #sessions = new Map<string, Session>();
  readonly #clock: Clock;
  readonly #limits: Required<SessionLimits>;
  readonly #open: (caller: McpCaller, sessionId: string) => McpServer;

  constructor(clock: Clock, limits: SessionLimits, open: (caller: McpCaller, sessionId: string) => McpServer) {
    const { sessions = 1_000, sessionsPerCaller = 100, sessionIdleMs = 1_800_000 } = limits;
    this.#clock = clock;
    this.#limits = { sessions, sessionsPerCaller, sessionIdleMs };
    this.#open = open;
  }

  /** Answers a request that names a session; `undefined` where there is none. */
  async serve(id: string, request: Request, caller: McpCaller, parsedBody: unknown): Promise<Response | undefined> {
    await this.#endIdle();
    const session = this.#sessions.get(id);
    if (!session || !hasSameAuthority(session.caller, caller)) return undefined;
    session.lastUsedMs = this.#clock.monotonicMs();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.transport.handleRequest(request, { parsedBody, authInfo: authInfoOf(caller) });
  }

  /** Answers `initialize`. */
  async begin(request: Request, caller: McpCaller, parsedBody: unknown): Promise<Response> {
    await this.#makeRoom(caller);
    const id = crypto.randomUUID();
    const server = this.#open(caller, id);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => {
        this.#sessions.set(id, { caller, server, transport, lastUsedMs: this.#clock.monotonicMs() });
      },
      onsessionclosed: () => void this.#sessions.delete(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody, authInfo: authInfoOf(caller) });
    if (!this.#sessions.has(id)) await server.close(); // It was refused.
    return response;
  }

  async notify(list: ChangedList): Promise<void> {
    // A session without a stream of its own hears nothing: its client asks when it wants to know.
    await Promise.allSettled([...this.#sessions.values()].map(({ server }) => tellOf(list, server)));
  }

  async close(): Promise<void> {
    await this.#end([...this.#sessions]);
  }

  async #endIdle(): Promise<void> {
    const now = this.#clock.monotonicMs();
    const { sessionIdleMs } = this.#limits;
    await this.#end([...this.#sessions].filter(([, { lastUsedMs }]) => now - lastUsedMs >= sessionIdleMs));
  }

  /** A caller that opens many sessions ends its own ones. */
  async #makeRoom(caller: McpCaller): Promise<void> {
    await this.#endIdle();
    const own = [...this.#sessions].filter(([, session]) => isSameCaller(session.caller, caller));
    const { sessions, sessionsPerCaller } = this.#limits;
    await this.#end(own.slice(0, Math.max(0, own.length - sessionsPerCaller + 1)));
    if (this.#sessions.size < sessions) return;
    const shares = new Shares();
    for (const session of this.#sessions.values()) shares.add(nameOf(session.caller), 1);
    const oldest = shares.next(this.#sessions, (session) => nameOf(session.caller));
    await this.#end([...this.#sessions].filter(([id]) => id === oldest));
  }

  async #end(sessions: readonly (readonly [string, Session])[]): Promise<void> {
    for (const [id] of sessions) this.#sessions.delete(id);
    await Promise.allSettled(sessions.map(([, { server }]) => server.close()));
  }
}

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { duplexPair } from "node:stream";
import type { LogInUse } from "@keyhole/worker-host/node";
import { type CommandIo, type CommandOptions, type CommandResult, Unusable, visible } from "../io.ts";
import { optionOf } from "../options.ts";
import { addressOf, type SharedPlace } from "./address.ts";
import { firstLine, type Hello, welcomeOf } from "./hello.ts";
import { notesTo, type Served, SharingHost } from "./host.ts";
import { ClientRelay } from "./relay.ts";

/** One start of the command. */
export interface Start<S extends Served = Served> {
  readonly place: SharedPlace;
  readonly caller: string;
  readonly session: string;
  /** Read anew for each attempt: files can change while another process serves. */
  parts(): Promise<Hello["parts"]>;
  /** Opens the log first. @throws {Unusable} also for a log that another process has open */
  open(io: CommandIo): Promise<S>;
}

/** Labels and standing approvals hold within a session: by default in all starts of a home. `new` names one of this start alone. */
export function clientOf(options: CommandOptions): Pick<Hello, "caller" | "session"> {
  const session = optionOf(options, "session") ?? "home";
  return {
    caller: optionOf(options, "caller") ?? "client",
    session: session === "new" ? crypto.randomUUID() : session,
  };
}

/** A server over MCP can take so long to start. */
const START_MS = 60_000;
/** A process without a socket can only end. */
const END_MS = 5_000;
const FIRST_STEP_MS = 50;
const LONGEST_STEP_MS = 500;
const WELCOME_MS = 10_000;

/**
 * Serves the client at stdin and stdout. One process of a home has its log open, with all state that the policy counts by. The others carry their clients to it, and the first that
 * notices its end opens the log in its place. So one policy holds for all.
 */
export async function serveClients(start: Start, io: CommandIo): Promise<CommandResult> {
  const address = await addressOf(start.place);
  const stopped = interrupted(io);
  let relay: ClientRelay | undefined;
  let hasWaited = false;
  let stepMs = FIRST_STEP_MS;
  let endsMs = performance.now() + (address === undefined ? END_MS : START_MS);
  for (;;) {
    const parts = await start.parts();
    const socket = address === undefined ? undefined : await join(address, { ...start, parts });
    if (socket) {
      relay ??= new ClientRelay(process.stdin, process.stdout, io.note);
      const gone = await Promise.race([relay.over(socket), stopped]);
      if (gone !== "host") {
        socket.destroy();
        break;
      }
      endsMs = performance.now() + START_MS;
      stepMs = FIRST_STEP_MS;
    }
    const served = await openHost(start, parts, address, io);
    if (!(served instanceof Unusable)) {
      await serveOwn(served.served, start, relay, stopped);
      await served.close();
      break;
    }
    if (performance.now() > endsMs) {
      const why = address === undefined ? "The path of the home is too long to share it." : "It takes no other client.";
      throw new Unusable(`${served.message} ${why} End that process, or name another folder: --home.`);
    }
    if ((await Promise.race([stopped, passed(stepMs)])) === "stopped") break;
    stepMs = Math.min(LONGEST_STEP_MS, stepMs * 2);
    if (stepMs === LONGEST_STEP_MS && !hasWaited) io.note(`${served.message} This start waits.\n`);
    hasWaited = stepMs === LONGEST_STEP_MS;
  }
  return { exitCode: io.signal.aborted ? 130 : 0, output: "" };
}

interface Host<S extends Served> {
  readonly served: S;
  close(): Promise<void>;
}

/** Serves other clients of the home beside the work of this process. @throws {Unusable} */
export async function sharingHost<S extends Served>(start: Start<S>, io: CommandIo): Promise<Host<S>> {
  const opened = await openHost(start, await start.parts(), await addressOf(start.place), io);
  if (opened instanceof Unusable) throw opened;
  return opened;
}

/** @returns the refusal where another process has the log open */
async function openHost<S extends Served>(
  start: Start<S>,
  parts: Hello["parts"],
  address: string | undefined,
  io: CommandIo,
): Promise<Host<S> | Unusable> {
  let host: SharingHost | undefined;
  let served: S;
  try {
    served = await start.open(notesTo(io, () => host));
  } catch (error) {
    if (error instanceof Unusable && isInUse(error.cause)) return error;
    throw error;
  }
  const sharing = new SharingHost(served, parts);
  if (address !== undefined)
    await sharing.listen(address).then(
      () => void (host = sharing),
      (error: Error) => io.note(`No other client can share this home: ${visible(error.message)}\n`),
    );
  return {
    served,
    async close() {
      await host?.close();
      await served.close();
    },
  };
}

/** By its name: this module loads before the host of Node does. */
function isInUse(error: unknown): error is LogInUse {
  return error instanceof Error && error.name === "LogInUse";
}

async function serveOwn(
  served: Served,
  hello: Pick<Hello, "caller" | "session">,
  relay: ClientRelay | undefined,
  stopped: Promise<"stopped">,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const [near, far] = duplexPair();
  const streams = relay ? { input: far, output: far } : undefined;
  const connection = served.connect(streams, hello, ended.resolve);
  const carried = relay?.over(near);
  await Promise.race([ended.promise, stopped, ...(carried ? [carried] : [])]);
  await connection.close();
}

/** The socket of the process that serves the home; `undefined` where none answers. @throws {Unusable} where it serves something else */
async function join(address: string, { caller, session, parts }: Hello): Promise<Socket | undefined> {
  const socket = connect(address);
  const isOpen = Promise.withResolvers<boolean>();
  socket.once("connect", () => isOpen.resolve(true)).once("close", () => isOpen.resolve(false));
  socket.on("error", () => {}); // "close" follows.
  if (!(await isOpen.promise)) return undefined;
  socket.write(`${JSON.stringify({ caller, session, parts })}\n`);
  const said = welcomeOf((await firstLine(socket, WELCOME_MS)) ?? "");
  if (said?.ok === true && !socket.destroyed) return socket;
  socket.destroy();
  if (said?.ok === false)
    throw new Unusable(
      `Process ${said.pid} serves this home with another ${visible(said.part)}. End its clients, or name another folder: --home.`,
    );
  return undefined;
}

const passed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A client ends its servers with SIGTERM; the default would leave the processes of our own servers behind. */
export async function interrupted({ signal }: CommandIo): Promise<"stopped"> {
  if (!signal.aborted) await Promise.race([once(process, "SIGTERM"), once(signal, "abort")]);
  return "stopped";
}

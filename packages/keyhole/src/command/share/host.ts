import { chmod, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { CommandIo } from "../io.ts";
import { firstLine, type Hello, helloOf, type Welcome } from "./hello.ts";

/** The service of the process that has the log open. */
export interface Served {
  /** Serves one client: by default that at stdin and stdout. `onEnd` is called when it has gone. */
  connect(client: ClientStreams | undefined, hello: Pick<Hello, "caller" | "session">, onEnd: () => void): Connection;
  /** Calls that run. */
  openCalls(): Promise<number>;
  close(): Promise<void>;
}

interface ClientStreams {
  readonly input: Readable;
  readonly output: Writable;
}

interface Connection {
  close(): Promise<void>;
}

const HELLO_MS = 5_000;
/** Clients at one time. */
const MOST_CLIENTS = 64;
const DRAIN_MS = 1_500;
const DRAIN_STEP_MS = 20;

/** Takes the clients of other processes. */
export class SharingHost {
  readonly #served: Served;
  readonly #parts: Hello["parts"];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Map<Socket, Connection>();

  constructor(served: Served, parts: Hello["parts"]) {
    this.#served = served;
    this.#parts = parts;
    this.#server = createServer((socket) => void this.#take(socket));
  }

  /** The log's lock is ours, so a socket that is there belongs to a process that has ended. @throws the fault of the system */
  async listen(address: string): Promise<void> {
    const isFile = process.platform !== "win32";
    if (isFile) await rm(address, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen(address, resolve);
    });
    this.#server.unref();
    if (isFile) await chmod(address, 0o600);
  }

  /** Shows a note to the person at each client. */
  note(text: string): void {
    for (const socket of this.#clients.keys()) socket.write(`${JSON.stringify({ keyhole: { note: text } })}\n`);
  }

  /** Lets running calls of the others end, for a short time. They then open the log themselves. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    const endsMs = performance.now() + DRAIN_MS;
    while (this.#clients.size > 0 && (await this.#served.openCalls()) > 0 && performance.now() < endsMs)
      await new Promise((next) => setTimeout(next, DRAIN_STEP_MS));
    for (const connection of this.#clients.values()) await connection.close();
    for (const socket of this.#sockets) socket.destroy();
    await promise;
  }

  async #take(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.on("error", () => {}); // "close" follows.
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#clients.delete(socket);
    });
    const hello = helloOf((await firstLine(socket, HELLO_MS)) ?? "");
    if (!hello || this.#clients.size >= MOST_CLIENTS) return void socket.destroy();
    const names = new Set([...Object.keys(this.#parts), ...Object.keys(hello.parts)]);
    const part = [...names].find((name) => this.#parts[name] !== hello.parts[name]);
    const { pid } = process;
    if (part !== undefined) return void socket.end(welcome({ ok: false, pid, part }));
    socket.write(welcome({ ok: true, pid }));
    const connection = this.#served.connect({ input: socket, output: socket }, hello, () => socket.end());
    this.#clients.set(socket, connection);
  }
}

const welcome = (said: Welcome): string => `${JSON.stringify(said)}\n`;

/** The notes of a host reach its own person and those at the clients. */
export function notesTo(io: CommandIo, host: () => SharingHost | undefined): CommandIo {
  return {
    ...io,
    note(text) {
      io.note(text);
      host()?.note(text);
    },
  };
}

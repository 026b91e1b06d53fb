import { isJsonObject } from "@keyhole/kernel";
import type { Duplex, Readable, Writable } from "node:stream";
import { LineSplitter } from "./lines.ts";

/** Requests that can be sent again: they run no tool. */
const repeatable = new Set([
  "initialize",
  "ping",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "server/discover",
  "subscriptions/listen",
  "tools/list",
]);
const lost = {
  code: -32_603,
  message: "The process that served this call ended. The call may have run: look for its effects before you repeat it.",
};

/**
 * Carries a client's messages to the process that has the log open. When that process ends, the next one serves the same client: it hears the client's handshake again and each
 * request that ran no tool. A call that was lost ends with an error.
 */
export class ClientRelay {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #note: (text: string) => void;
  #host: Duplex | undefined;
  /** Lines that came while there was no host. */
  readonly #waiting: string[] = [];
  /** Requests without an answer, by their id. */
  readonly #pending = new Map<string, { readonly line: string; readonly method: string; readonly id: unknown }>();
  /** Of 2025-11-25 and older: the messages that a server has to hear first, in order. */
  readonly #handshake = new Map<string, string>();
  #initializeId: string | undefined;
  /** Of the handshake that was repeated: the client has the answer. */
  #swallowed: string | undefined;
  readonly #gone = Promise.withResolvers<"client">();

  constructor(input: Readable, output: Writable, note: (text: string) => void) {
    this.#input = input;
    this.#output = output;
    this.#note = note;
    const gone = (): void => this.#gone.resolve("client");
    const lines = new LineSplitter((line) => this.#fromClient(line), gone);
    input.on("data", (chunk: Buffer) => lines.take(chunk));
    input.once("end", gone).once("close", gone).on("error", gone);
    output.on("error", gone).on("drain", () => this.#host?.resume());
    input.pause();
  }

  /** Resolves when the client or the host has gone. */
  async over(host: Duplex): Promise<"client" | "host"> {
    const ended = Promise.withResolvers<"host">();
    const lines = new LineSplitter(
      (line) => this.#fromHost(line),
      () => host.destroy(),
    );
    host.on("data", (chunk: Buffer) => lines.take(chunk));
    host.on("drain", () => this.#input.resume());
    host.on("error", () => {}); // "close" follows.
    host.once("close", () => ended.resolve("host"));
    this.#host = host;
    this.#repeat();
    for (const line of this.#waiting.splice(0)) this.#send(line);
    this.#input.resume();
    const gone = await Promise.race([this.#gone.promise, ended.promise]);
    this.#input.pause();
    this.#host = undefined;
    if (gone === "client") host.end();
    else this.#lose();
    return gone;
  }

  #repeat(): void {
    if (this.#initializeId !== undefined && !this.#pending.has(this.#initializeId)) {
      this.#swallowed = this.#initializeId;
      for (const line of this.#handshake.values()) this.#write(line);
    }
    for (const { line } of this.#pending.values()) this.#write(line);
  }

  #lose(): void {
    this.#swallowed = undefined;
    for (const [key, { method, id }] of this.#pending) {
      if (repeatable.has(method)) continue;
      this.#pending.delete(key);
      this.#output.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: lost })}\n`);
    }
  }

  #fromClient(line: string): void {
    if (this.#host) this.#send(line);
    else this.#waiting.push(line);
  }

  #send(line: string): void {
    const { id, method, params } = messageOf(line);
    if (typeof method === "string") {
      const key = JSON.stringify(id);
      if (id !== undefined) this.#pending.set(key, { line, method, id });
      if (method === "initialize") this.#initializeId = key;
      if (["initialize", "notifications/initialized", "logging/setLevel"].includes(method))
        this.#handshake.set(method, line);
      // The host does not answer it any more.
      if (method === "notifications/cancelled" && isJsonObject(params))
        this.#pending.delete(JSON.stringify(params["requestId"]));
    }
    this.#write(line);
  }

  #write(line: string): void {
    if (this.#host?.write(`${line}\n`) === false) this.#input.pause();
  }

  #fromHost(line: string): void {
    const { id, method, keyhole } = messageOf(line);
    if (isJsonObject(keyhole)) {
      const { note } = keyhole;
      return typeof note === "string" ? this.#note(note) : undefined;
    }
    if (id !== undefined && method === undefined) {
      const key = JSON.stringify(id);
      this.#pending.delete(key);
      if (key === this.#swallowed) {
        this.#swallowed = undefined;
        return;
      }
    }
    if (!this.#output.write(`${line}\n`)) this.#host?.pause();
  }
}

function messageOf(line: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

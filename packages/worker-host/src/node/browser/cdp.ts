import type { Readable, Writable } from "node:stream";
import { textOf } from "./values.ts";

/**
 * Bytes of one message. A page chooses the content of some messages: a longer one ends the visit
 * before it is in memory.
 */
const messageBytes = 48 << 20;

export type CdpParams = Readonly<Record<string, unknown>>;
export type CdpListener = (method: string, params: CdpParams, sessionId: string | undefined) => void;

/** Why a command of the protocol has no answer. */
export class CdpFailure extends Error {
  override readonly name = "CdpFailure";
}

interface Pending {
  readonly resolve: (result: CdpParams) => void;
  readonly reject: (error: CdpFailure) => void;
}

/** The Chrome DevTools Protocol over a pipe: JSON messages, each ended by a zero byte. No port of the machine listens for it. */
export class CdpPipe {
  readonly #out: Writable;
  readonly #pending = new Map<number, Pending>();
  readonly #awaited = new Map<string, (params: CdpParams) => void>();
  readonly #listener: CdpListener;
  readonly #onFault: (reason: string) => void;
  #chunks: Buffer[] = [];
  #length = 0;
  #id = 0;

  constructor(out: Writable, incoming: Readable, listener: CdpListener, onFault: (reason: string) => void) {
    this.#out = out;
    this.#listener = listener;
    this.#onFault = onFault;
    out.on("error", () => {});
    incoming.on("error", () => {});
    incoming.on("data", (chunk: Buffer) => this.#take(chunk));
    incoming.on("close", () => this.end("the browser has ended"));
  }

  /** @throws {CdpFailure} when the browser refuses, or has ended */
  send(method: string, params: CdpParams = {}, sessionId?: string): Promise<CdpParams> {
    const id = ++this.#id;
    const { promise, resolve, reject } = Promise.withResolvers<CdpParams>();
    // A visit can end between a command and its `await`: unheard, the failure would end the process.
    promise.catch(() => {});
    this.#pending.set(id, { resolve, reject });
    this.#out.write(`${JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`);
    return promise;
  }

  /** The next event of this name; none, when the browser ends before. */
  once(method: string): Promise<CdpParams> {
    return new Promise((resolve) => this.#awaited.set(method, resolve));
  }

  end(reason: string): void {
    for (const { reject } of this.#pending.values()) reject(new CdpFailure(reason));
    this.#pending.clear();
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const message = Buffer.concat([...this.#chunks, chunk.subarray(start, end)]);
      this.#chunks = [];
      this.#length = 0;
      start = end + 1;
      this.#read(message);
    }
    const rest = chunk.subarray(start);
    this.#length += rest.byteLength;
    if (this.#length > messageBytes) {
      this.#chunks = [];
      this.#length = 0;
      this.#onFault(`the browser sent a message of more than ${messageBytes} bytes`);
    } else if (rest.byteLength > 0) this.#chunks.push(rest);
  }

  #read(bytes: Buffer): void {
    let message: Record<string, unknown>;
    try {
      message = JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
    } catch {
      this.#onFault("the browser sent a message that is not JSON");
      return;
    }
    const { id, method, params, result, error, sessionId } = message;
    if (typeof id === "number") {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) pending?.resolve((result ?? {}) as CdpParams);
      else pending?.reject(new CdpFailure(textOf((error as { readonly message?: unknown }).message, 200)));
    } else if (typeof method === "string") {
      const given = (params ?? {}) as CdpParams;
      this.#awaited.get(method)?.(given);
      this.#awaited.delete(method);
      this.#listener(method, given, typeof sessionId === "string" ? sessionId : undefined);
    }
  }
}

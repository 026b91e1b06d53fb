import { GatheredBytes } from "@keyhole/kernel/foreign";
import type { FetchLike } from "@modelcontextprotocol/client";
import { serverFault, unsafe } from "../message.ts";
import type { OpenOptions } from "./endpoint.ts";

/**
 * Refuses redirects, which could lead to a host without a grant. Fails a body, or an event of a stream, with more decompressed bytes than its bound. Fails JSON that two
 * readers can take for two values.
 */
export function boundedFetch(
  fetch: FetchLike,
  { messageBytes, onFault }: Pick<OpenOptions, "messageBytes" | "onFault">,
): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: "error" });
    if (!response.body) return response;
    // The client reads the body of a failure at once, of any type.
    const isStream = response.ok && isEventStream(response.headers.get("content-type"));
    const fail = (reason: string): never => {
      const fault = new RangeError(reason);
      onFault(fault);
      throw fault;
    };
    const message = new Message(messageBytes, fail);
    const body = response.body.pipeThrough(isStream ? events(message) : whole(message));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

/** Exactly the type: anything else is bounded as one body. */
function isEventStream(contentType: string | null): boolean {
  return /^text\/event-stream(?:\s*;|\s*$)/i.test(contentType ?? "");
}

/** The bytes of one message, which go on when all of them are there and its JSON is safe. */
class Message {
  readonly #bytes = new GatheredBytes();
  readonly #mostBytes: number;
  readonly #fail: (reason: string) => never;

  constructor(mostBytes: number, fail: (reason: string) => never) {
    this.#mostBytes = mostBytes;
    this.#fail = fail;
  }

  get length(): number {
    return this.#bytes.length;
  }

  add(piece: Uint8Array): void {
    if (this.#bytes.length + piece.length > this.#mostBytes)
      this.#fail(`The server sent a message of more than ${this.#mostBytes} bytes.`);
    this.#bytes.add(piece);
  }

  /** @param jsonIn the part of the text that is JSON, if it is any */
  take(jsonIn: (text: string) => string): Uint8Array {
    const bytes = this.#bytes.take();
    const fault = serverFault(jsonIn(new TextDecoder().decode(bytes)));
    // The client refuses what is no JSON.
    if (fault?.isJson === true) this.#fail(unsafe(fault.reason));
    return bytes;
  }
}

function whole(message: Message): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform: (chunk) => message.add(chunk),
    flush: (controller) => controller.enqueue(message.take((text) => text)),
  });
}

const LINE_FEED = 10;
const RETURN = 13;

/** An event ends with an empty line; CR, LF and CR LF each end a line (HTML, server-sent events). */
function events(message: Message): TransformStream<Uint8Array, Uint8Array> {
  let isLineEmpty = true;
  let isAfterReturn = false;
  return new TransformStream({
    transform(chunk, controller) {
      let from = 0;
      for (const [at, byte] of chunk.entries()) {
        const endsLine = byte === RETURN || (byte === LINE_FEED && !isAfterReturn);
        isAfterReturn = byte === RETURN;
        if (!endsLine) {
          if (byte !== LINE_FEED) isLineEmpty = false;
          continue;
        }
        if (isLineEmpty) {
          message.add(chunk.subarray(from, at + 1));
          controller.enqueue(message.take(dataOf));
          from = at + 1;
        }
        isLineEmpty = true;
      }
      if (from < chunk.length) message.add(chunk.subarray(from));
    },
    // An event without its end is none.
    flush: (controller) => controller.enqueue(message.take(dataOf)),
  });
}

/** The lines of data in an event. */
function dataOf(event: string): string {
  const lines = event.split(/\r\n|\r|\n/).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []);
  return lines.join("\n");
}

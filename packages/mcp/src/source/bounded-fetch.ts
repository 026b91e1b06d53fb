import { GatheredBytes } from "@keyhole/kernel/foreign";
import type { FetchLike } from "@modelcontextprotocol/client";
import { serverJson } from "../message.ts";
import type { ChargeReceived, OpenOptions } from "./endpoint.ts";

/**
 * Refuses redirects, which could lead to a host without a grant. Fails a body, or an event of a stream, with more decompressed bytes than its bound. Fails JSON that two
 * readers can take for two values. Charges all bytes before it passes them on.
 */
export function boundedFetch(
  send: FetchLike,
  { messageBytes, onFault, charge }: Pick<OpenOptions, "messageBytes" | "onFault" | "charge">,
): FetchLike {
  return async (url, init) => {
    const response = await send(url, { ...init, redirect: "error" });
    if (!response.body) return response;
    // The client reads the body of a failure at once, of any type.
    const isStream = response.ok && isEventStream(response.headers.get("content-type"));
    const fail = (reason: string): never => {
      const fault = new RangeError(reason);
      onFault(fault);
      throw fault;
    };
    const message = new Message(messageBytes, fail, charge);
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
  readonly #charge: ChargeReceived;
  /** Bytes outside of messages. */
  #uncharged = 0;

  constructor(mostBytes: number, fail: (reason: string) => never, charge: ChargeReceived) {
    this.#mostBytes = mostBytes;
    this.#fail = fail;
    this.#charge = charge;
  }

  add(piece: Uint8Array): void {
    if (this.#bytes.length + piece.length > this.#mostBytes)
      this.#fail(`The server sent a message of more than ${this.#mostBytes} bytes.`);
    this.#bytes.add(piece);
  }

  /**
   * The message, or no bytes where its budget is spent. The client refuses a text that is no JSON.
   *
   * @param jsonIn the part of the text that is JSON, if it is any
   */
  take(jsonIn: (text: string) => string): Uint8Array {
    const bytes = this.#bytes.take();
    const { value, fault } = serverJson(jsonIn(new TextDecoder().decode(bytes)));
    if (fault !== undefined) this.#fail(fault);
    if (value !== undefined) return this.#charge(bytes.length, value) ? bytes : nothing;
    this.#uncharged += bytes.length;
    return bytes;
  }

  /** After each chunk: many empty events cost no more than one. */
  chargeRest(): void {
    if (this.#uncharged > 0) this.#charge(this.#uncharged, undefined);
    this.#uncharged = 0;
  }
}

const nothing = new Uint8Array();

function whole(message: Message): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform: (chunk) => message.add(chunk),
    flush(controller) {
      controller.enqueue(message.take((text) => text));
      message.chargeRest();
    },
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
      message.chargeRest();
    },
    // An event without its end is none.
    flush(controller) {
      controller.enqueue(message.take(dataOf));
      message.chargeRest();
    },
  });
}

/** The lines of data in an event. */
function dataOf(event: string): string {
  const lines = event.split(/\r\n|\r|\n/).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []);
  return lines.join("\n");
}

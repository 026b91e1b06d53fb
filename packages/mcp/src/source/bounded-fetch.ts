import { GatheredBytes } from "@keyhole/kernel/foreign";
import type { FetchLike } from "@modelcontextprotocol/client";
import { serverJson } from "../message.ts";
import type { ChargeReceived, OpenOptions } from "./endpoint.ts";

/**
 * Refuses redirects, which could lead to a host without a grant. Fails a body, or an event of a stream, with more decompressed bytes than its bound. An answer
 * that no reader is safe with becomes an error for its request. Charges all bytes before it passes them on.
 */
export function boundedFetch(
  send: FetchLike,
  { messageBytes, onFault, onStray, charge }: Pick<OpenOptions, "messageBytes" | "onFault" | "onStray" | "charge">,
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
    // A body answers one request, which fails. The stream of an event has other messages.
    const unread = (reason: string): void => {
      if (!isStream) throw new RangeError(reason);
      onStray();
    };
    const message = new Message({ mostBytes: messageBytes, fail, charge, unread, place: isStream ? inEvent : inBody });
    const body = response.body.pipeThrough(isStream ? events(message) : whole(message));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

/** Exactly the type: anything else is bounded as one body. */
function isEventStream(contentType: string | null): boolean {
  return /^text\/event-stream(?:\s*;|\s*$)/i.test(contentType ?? "");
}

interface MessagePorts {
  readonly mostBytes: number;
  readonly fail: (reason: string) => never;
  readonly charge: ChargeReceived;
  /** JSON that answers no known request, and that no reader is safe with. */
  readonly unread: (reason: string) => void;
  readonly place: Place;
}

/** The bytes of one message, which go on when all of them are there and its JSON is safe. */
class Message {
  readonly #bytes = new GatheredBytes();
  readonly #ports: MessagePorts;
  /** Bytes outside of messages. */
  #uncharged = 0;

  constructor(ports: MessagePorts) {
    this.#ports = ports;
  }

  add(piece: Uint8Array): void {
    const { mostBytes, fail } = this.#ports;
    if (this.#bytes.length + piece.length > mostBytes)
      fail(`The server sent a message of more than ${mostBytes} bytes.`);
    this.#bytes.add(piece);
  }

  /** The message, or no bytes where its budget is spent. The client refuses a text that is no JSON. */
  take(): Uint8Array {
    const bytes = this.#bytes.take();
    const text = new TextDecoder().decode(bytes);
    const { place, charge, unread } = this.#ports;
    const { value, fault } = serverJson(place.jsonIn(text));
    if (value === undefined) this.#uncharged += bytes.length;
    else if (!charge(bytes.length, value)) return nothing;
    if (fault === undefined) return bytes;
    if (value !== undefined) return new TextEncoder().encode(place.with(text, JSON.stringify(value)));
    unread(`The server sent unreadable JSON: ${fault}.`);
    return nothing;
  }

  /** After each chunk: many empty events cost no more than one. */
  chargeRest(): void {
    if (this.#uncharged > 0) this.#ports.charge(this.#uncharged, undefined);
    this.#uncharged = 0;
  }
}

const nothing = new Uint8Array();

/** Where a message stands in a text. */
interface Place {
  readonly jsonIn: (text: string) => string;
  /** The text with another message in it. */
  readonly with: (text: string, json: string) => string;
}

const inBody: Place = { jsonIn: (text) => text, with: (_, json) => json };
const lineEnd = /\r\n|\r|\n/;

const inEvent: Place = {
  jsonIn(event) {
    const lines = event.split(lineEnd).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []);
    return lines.join("\n");
  },
  with(event, json) {
    const others = event.split(lineEnd).filter((line) => line !== "" && !/^data(?::|$)/.test(line));
    return `${[...others, `data: ${json}`].join("\n")}\n\n`;
  },
};

function whole(message: Message): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform: (chunk) => message.add(chunk),
    flush(controller) {
      controller.enqueue(message.take());
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
          controller.enqueue(message.take());
          from = at + 1;
        }
        isLineEmpty = true;
      }
      if (from < chunk.length) message.add(chunk.subarray(from));
      message.chargeRest();
    },
    // An event without its end is none.
    flush(controller) {
      controller.enqueue(message.take());
      message.chargeRest();
    },
  });
}

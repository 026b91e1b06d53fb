import type { FetchLike } from "@modelcontextprotocol/client";
import type { OpenOptions } from "./endpoint.ts";

/**
 * Refuses redirects, which could lead to a host without a grant. Fails a JSON body, or an event of
 * a stream, that has more decompressed bytes than its bound.
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
    const fail = (): never => {
      const fault = new RangeError(`The server sent a message of more than ${messageBytes} bytes.`);
      onFault(fault);
      throw fault;
    };
    const body = response.body.pipeThrough(isStream ? eventLimit(messageBytes, fail) : byteLimit(messageBytes, fail));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

/** Exactly the type: anything else is bounded as one body. */
function isEventStream(contentType: string | null): boolean {
  return /^text\/event-stream(?:\s*;|\s*$)/i.test(contentType ?? "");
}

function byteLimit(mostBytes: number, fail: () => never): TransformStream<Uint8Array, Uint8Array> {
  let byteLength = 0;
  return new TransformStream({
    transform(chunk, controller) {
      byteLength += chunk.length;
      if (byteLength > mostBytes) fail();
      controller.enqueue(chunk);
    },
  });
}

const LINE_FEED = 10;
const RETURN = 13;

/** An event ends with an empty line; CR, LF and CR LF each end a line (HTML, server-sent events). */
function eventLimit(mostBytes: number, fail: () => never): TransformStream<Uint8Array, Uint8Array> {
  let byteLength = 0;
  let isLineEmpty = true;
  let isAfterReturn = false;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        byteLength++;
        const endsLine = byte === RETURN || (byte === LINE_FEED && !isAfterReturn);
        isAfterReturn = byte === RETURN;
        if (endsLine) {
          if (isLineEmpty) byteLength = 0;
          isLineEmpty = true;
        } else if (byte !== LINE_FEED) isLineEmpty = false;
        if (byteLength > mostBytes) fail();
      }
      controller.enqueue(chunk);
    },
  });
}

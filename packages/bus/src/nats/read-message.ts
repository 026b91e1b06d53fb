import type { BusMessage } from "../port.ts";

/** The server's report of a missing listener. Any client can send it too. */
const NO_RESPONDERS = 503;
/** Those of a request have about 600. NATS's client compares each name with all before it: a mebibyte of names would take it hours. */
const MOST_HEADER_BYTES = 2_048;

/** Headers of a message, as NATS's client has them. */
export interface NatsHeaders extends Iterable<readonly [string, readonly string[]]> {
  /** Of the server's own words; 0 where there are none. */
  readonly code: number;
  set(name: string, value: string): void;
}

/** A message of NATS's client, which decodes the headers when they are read, and throws where it cannot. */
export interface NatsMessage<Headers> {
  readonly subject: string;
  readonly reply?: string | undefined;
  readonly headers?: Headers | undefined;
  readonly data: Uint8Array;
  /** Of subject, reply, headers and body, in bytes. */
  size?(): number;
}

/** @throws Error for a message that cannot be read */
export function readMessage(message: NatsMessage<NatsHeaders>): BusMessage {
  const { subject, reply = "", data } = message;
  const headerBytes = (message.size?.() ?? 0) - subject.length - reply.length - data.length;
  if (headerBytes > MOST_HEADER_BYTES)
    throw unreadable(`it has ${headerBytes} bytes of headers, of at most ${MOST_HEADER_BYTES}`);
  const headers = headersOf(message);
  return {
    subject,
    reply: reply === "" ? undefined : reply,
    headers: headers ? plain(headers) : new Map(),
    body: data,
    noResponders: headers?.code === NO_RESPONDERS && data.length === 0,
  };
}

/** Reading them decodes them. */
function headersOf(message: NatsMessage<NatsHeaders>): NatsHeaders | undefined {
  try {
    return message.headers;
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error));
  }
}

const unreadable = (reason: string): Error =>
  new Error(`A message on the bus cannot be read: ${reason}. It was dropped.`);

/** Of several values of one header the first counts. */
function plain(headers: NatsHeaders): ReadonlyMap<string, string> {
  return new Map([...headers].map(([name, [value = ""]]) => [name, value]));
}

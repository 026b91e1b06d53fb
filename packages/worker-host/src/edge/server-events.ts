import { EdgeFault } from "./fault.ts";

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Characters of one event; what is longer is no event of ours. */
const maxEventLength = 64 << 20;

/**
 * Server-Sent Events of a response (HTML, 9.2.6), as far as one answer to one request needs them: no ids, no reconnecting.
 *
 * @throws {EdgeFault} when an event is too long; also the error of the stream itself
 */
export async function* serverEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const fields = new EventFields();
  let rest = "";
  let maybeEnds = false;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      rest += read.value;
      if (rest.length > maxEventLength) throw tooLong();
      // A line of megabytes comes in thousands of parts, and each part has one search.
      maybeEnds ||= /[\r\n]/.test(read.value);
      if (!maybeEnds) continue;
      maybeEnds = read.value.endsWith("\r");
      // A CR at the very end may be half of a CRLF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const event of lines.map((line) => fields.take(line))) if (event !== undefined) yield event;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The fields since the last empty line. */
class EventFields {
  #event = "message";
  #data: string[] = [];
  #length = 0;

  /** An empty line ends an event; one without data is none. */
  take(line: string): ServerEvent | undefined {
    if (line.startsWith("event:")) this.#event = valueOf(line);
    if (line.startsWith("data:")) this.#data.push(valueOf(line));
    this.#length += line.length;
    if (this.#length > maxEventLength) throw tooLong();
    if (line !== "") return undefined;
    const ended = { event: this.#event, data: this.#data.join("\n") };
    const hasData = this.#data.length > 0;
    this.#event = "message";
    this.#data = [];
    this.#length = 0;
    return hasData ? ended : undefined;
  }
}

function tooLong(): EdgeFault {
  return new EdgeFault(
    "EDGE_TOO_MUCH",
    "The edge sent an event that is too long.",
    "Is this the address of a Keyhole edge?",
  );
}

function valueOf(line: string): string {
  const value = line.slice(line.indexOf(":") + 1);
  return value.startsWith(" ") ? value.slice(1) : value;
}

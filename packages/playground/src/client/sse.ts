export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Characters of one event; what is longer is no event of ours. */
const maxEventLength = 64 << 20;

/** Server-Sent Events of a response (HTML, 9.2.6), as far as one answer to one request needs them: no ids, no reconnecting. */
export async function* serverEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = "message";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      if (rest.length > maxEventLength) throw new Error("An event of the stream is too long.");
      // A CR at the very end may be half of a CRLF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { event, data: data.join("\n") };
          event = "message";
          data = [];
        } else if (line.startsWith("event:")) event = valueOf(line);
        else if (line.startsWith("data:")) data.push(valueOf(line));
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function valueOf(line: string): string {
  const value = line.slice(line.indexOf(":") + 1);
  return value.startsWith(" ") ? value.slice(1) : value;
}

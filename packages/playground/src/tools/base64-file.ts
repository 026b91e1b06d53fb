import { defineTool } from "@keyhole/kernel/tool";

/** Three bytes are four characters, so that only the last line needs padding. */
const lineBytes = 57;

export default defineTool({
  name: "base64_file",
  version: "1.0.0",
  title: "Base64 of a file",
  description:
    "Turns a file that you choose into base64 in lines of 76 characters (RFC 2045). Bytes flow in and out at the same time; the result is a file to save.",
  category: "example",
  bounds: { bodyBytes: 1_000_000_000, outputBytes: 1_400_000_000, timeoutMs: 600_000 },
  input: { type: "object", additionalProperties: false },
  body: {},
  output: { kind: "stream", mediaType: "text/plain" },
  async *execute(_, { body }) {
    let rest = new Uint8Array();
    for await (const piece of body) {
      const bytes = new Uint8Array(rest.length + piece.length);
      bytes.set(rest);
      bytes.set(piece, rest.length);
      const whole = bytes.length - (bytes.length % lineBytes);
      if (whole > 0) yield linesOf(bytes.subarray(0, whole));
      rest = bytes.slice(whole);
    }
    if (rest.length > 0) yield linesOf(rest);
  },
});

function linesOf(bytes: Uint8Array): Uint8Array {
  let text = "";
  for (let at = 0; at < bytes.length; at += lineBytes)
    text += `${btoa(String.fromCharCode(...bytes.subarray(at, at + lineBytes)))}\n`;
  return new TextEncoder().encode(text);
}

/** How bytes travel in JSON: as text where they are text, else as base64 (RFC 4648, section 4). */
export type Encoding = "text" | "base64";

function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const binary = atob(text);
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** In pieces: a call takes only so many arguments. */
export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; start += 8_192) {
    pieces.push(String.fromCharCode(...bytes.subarray(start, start + 8_192)));
  }
  return btoa(pieces.join(""));
}

/** The text that bytes are in UTF-8, or nothing. A byte order mark stays, so that the text gives the same bytes again. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether a text has characters that no text contains, even where they are valid UTF-8. */
export function looksBinary(text: string): boolean {
  return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text);
}

/** Bytes of an input, or a sentence about what is wrong with it. */
export function bytesOf(data: string, encoding: Encoding): Uint8Array | string {
  if (encoding === "text") return new TextEncoder().encode(data);
  return decodeBase64(data) ?? "it is not base64 as RFC 4648 defines it, with `+`, `/` and padding";
}

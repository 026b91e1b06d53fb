import type { JsonValue } from "@keyhole/kernel";

interface Output {
  readonly data: JsonValue | Uint8Array;
  readonly hash: string;
  readonly mediaType: string | undefined;
}

/** What a model reads of an output: text as it is, JSON as JSON, bytes in base64, and the beginning of what is longer than `limitBytes`. */
export function textForModel({ data, hash, mediaType }: Output, limitBytes: number): string {
  if (data instanceof Uint8Array) {
    const described = { mediaType: mediaType ?? "application/octet-stream", byteLength: data.length, hash };
    const base64Length = Math.ceil(data.length / 3) * 4;
    return JSON.stringify(base64Length <= limitBytes ? { ...described, base64: base64(data) } : described);
  }
  const text = typeof data === "string" ? data : JSON.stringify(data);
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= limitBytes) return text;
  // A character that the limit cuts in two is left out.
  const beginning = new TextDecoder().decode(bytes.subarray(0, limitBytes), { stream: true });
  return JSON.stringify({ truncated: true, byteLength: bytes.length, hash, beginning });
}

/** As many arguments as every engine takes in one call. */
const chunkBytes = 8192;

/** RFC 4648, section 4. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += chunkBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes));
  return btoa(binary);
}

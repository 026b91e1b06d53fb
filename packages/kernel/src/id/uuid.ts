const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** UUIDv7 (RFC 9562, section 5.7): 48 bits of time, 74 bits of randomness. */
export function uuidv7(nowMs: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(nowMs / 2 ** (40 - 8 * i)) & 0xff;
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** `byteLength` random bytes in lower-case hexadecimal. */
export function randomHex(byteLength: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(byteLength)));
}

function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += hex[byte];
  return text;
}

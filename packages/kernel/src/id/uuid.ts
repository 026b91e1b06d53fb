const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** One call into the platform's generator costs more than everything else about an id: it is asked for many bytes at once. */
const pool = new Uint8Array(2048);
let used = pool.length;

/** The next `byteLength` random bytes, at most 64, as a view that the following calls do not touch before the pool is empty. */
function randomBytes(byteLength: number): Uint8Array {
  if (used + byteLength > pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  used += byteLength;
  return pool.subarray(used - byteLength, used);
}

/** UUIDv7 (RFC 9562, section 5.7): 48 bits of time, 74 bits of randomness. */
export function uuidv7(nowMs: number): string {
  const time = Math.floor(nowMs).toString(16).padStart(12, "0");
  const bytes = randomBytes(10);
  bytes[0] = (bytes[0]! & 0x0f) | 0x70;
  bytes[2] = (bytes[2]! & 0x3f) | 0x80;
  const rest = toHex(bytes);
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`;
}

/** `byteLength` random bytes, at most 64, in lower-case hexadecimal. */
export function randomHex(byteLength: number): string {
  return toHex(randomBytes(byteLength));
}

function toHex(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += hex[bytes[i]!];
  return text;
}

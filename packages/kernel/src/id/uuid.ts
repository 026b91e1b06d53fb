import { flatten } from "../json/flat-text.ts";

/** One call into the platform's generator costs more than everything else about an id, and so does printing: both are done for many at once. */
const pool = new Uint8Array(2048);
let digits = "";
let used = 0;

/** The next random hexadecimal digits, at most 128. */
function randomDigits(count: number): string {
  if (used + count > digits.length) {
    crypto.getRandomValues(pool);
    let at = 0;
    for (const byte of pool) {
      printed[at++] = hex.charCodeAt(byte >> 4);
      printed[at++] = hex.charCodeAt(byte & 15);
    }
    digits = decoder.decode(printed);
    used = 0;
  }
  used += count;
  return digits.slice(used - count, used);
}

const hex = "0123456789abcdef";
/** Decoding many bytes takes a tenth of what joining as many texts does, and leaves nothing behind. */
const printed = new Uint8Array(pool.length * 2);
const decoder = new TextDecoder();

let lastMs = Number.NaN;
let lastTime = "";

/** The first half of a UUIDv7, up to its version. */
function timeDigits(nowMs: number): string {
  if (nowMs !== lastMs) {
    const time = Math.floor(nowMs).toString(16).padStart(12, "0");
    lastTime = flatten(`${time.slice(0, 8)}-${time.slice(8)}-7`);
    lastMs = nowMs;
  }
  return lastTime;
}

/** UUIDv7 (RFC 9562, section 5.7): 48 bits of time, 74 bits of randomness. */
export function uuidv7(nowMs: number): string {
  const random = randomDigits(19);
  const variant = "89ab".charAt(hex.indexOf(random.charAt(0)) & 3);
  const middle = random.slice(1, 4) + "-" + variant + random.slice(4, 7) + "-";
  return timeDigits(nowMs) + middle + random.slice(7);
}

/**
 * UUIDv7 for numbered things (RFC 9562, section 6.2, method 1): 24 bits of the number, and 48
 * random bits that all ids of one source share. The ids of another source cannot be guessed; within
 * one source the next id is no secret.
 */
export function numberedIds(): (nowMs: number, number: number) => string {
  const source = flatten("-" + randomDigits(12));
  return (nowMs, number) => {
    // Bit 24 keeps the zeros in front.
    const digits = (0x100_0000 + (number % 0x100_0000)).toString(16);
    return timeDigits(nowMs) + digits.slice(1, 4) + "-8" + digits.slice(4) + source;
  };
}

/** `byteLength` random bytes, at most 64, in lower-case hexadecimal. */
export function randomHex(byteLength: number): string {
  return randomDigits(byteLength * 2);
}

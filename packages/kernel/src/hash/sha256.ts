import { type Hash, type HashParts, hashWith } from "./hash.ts";

/*
 * `@keyhole/kernel/sha256`: SHA-256 (FIPS 180-4) for kernels whose evidence has to be in it. Synchronous, because a kernel hashes while it decides;
 * WebCrypto's is not. Nothing that a kernel runs imports it.
 */

const BLOCK_BYTES = 64;

/** The first 32 bits of the fractional parts of the square roots and cube roots of the first primes (FIPS 180-4, 4.2.2 and 5.3.3). */
const initial: Int32Array = /* @__PURE__ */ roots(8, 1 / 2);
const rounds: Int32Array = /* @__PURE__ */ roots(64, 1 / 3);

/** Scratch. Nothing foreign runs while it is in use. */
const state: Int32Array = /* @__PURE__ */ new Int32Array(8);
const schedule: Int32Array = /* @__PURE__ */ new Int32Array(64);
/** The last bytes with their padding: one block or two. */
const tail: Uint8Array = /* @__PURE__ */ new Uint8Array(2 * BLOCK_BYTES);

function roots(count: number, power: number): Int32Array {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return Int32Array.from(found, (prime) => {
    const root = prime ** power;
    return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
  });
}

/** Every index is within: a fallback that the engine never takes, and the compiler asks for. */
const wordAt = (words: Int32Array, at: number): number => words[at] ?? 0;
const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0;

/** Mixes one block into the state (FIPS 180-4, 6.2.2). */
function mix(bytes: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++) {
    const place = at + i * 4;
    schedule[i] =
      (byteAt(bytes, place) << 24) |
      (byteAt(bytes, place + 1) << 16) |
      (byteAt(bytes, place + 2) << 8) |
      byteAt(bytes, place + 3);
  }
  for (let i = 16; i < 64; i++) {
    const x = wordAt(schedule, i - 15);
    const y = wordAt(schedule, i - 2);
    const early = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const late = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    schedule[i] = (wordAt(schedule, i - 16) + early + wordAt(schedule, i - 7) + late) | 0;
  }
  let a = wordAt(state, 0);
  let b = wordAt(state, 1);
  let c = wordAt(state, 2);
  let d = wordAt(state, 3);
  let e = wordAt(state, 4);
  let f = wordAt(state, 5);
  let g = wordAt(state, 6);
  let h = wordAt(state, 7);
  for (let i = 0; i < 64; i++) {
    const sumE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const first = (h + sumE + ((e & f) ^ (~e & g)) + wordAt(rounds, i) + wordAt(schedule, i)) | 0;
    const sumA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const second = (sumA + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state[0] = wordAt(state, 0) + a;
  state[1] = wordAt(state, 1) + b;
  state[2] = wordAt(state, 2) + c;
  state[3] = wordAt(state, 3) + d;
  state[4] = wordAt(state, 4) + e;
  state[5] = wordAt(state, 5) + f;
  state[6] = wordAt(state, 6) + g;
  state[7] = wordAt(state, 7) + h;
}

/** The hash of the first bytes, as 8 little-endian words in scratch: for an immediate read. */
function sha256Words(bytes: Uint8Array, byteLength: number): Int32Array {
  state.set(initial);
  const whole = byteLength - (byteLength % BLOCK_BYTES);
  for (let at = 0; at < whole; at += BLOCK_BYTES) mix(bytes, at);
  return finish(bytes, whole, byteLength);
}

/** Mixes the last bytes, less than a block, and their padding. */
function finish(bytes: Uint8Array, at: number, byteLength: number): Int32Array {
  const rest = byteLength % BLOCK_BYTES;
  const tailBytes = rest < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES;
  for (let i = 0; i < tailBytes; i++) tail[i] = i < rest ? byteAt(bytes, at + i) : 0;
  tail[rest] = 0x80;
  // The length in bits, big-endian; lengths stay below 2^53.
  for (let i = 0, bits = byteLength * 8; i < 8; i++, bits = Math.floor(bits / 256))
    tail[tailBytes - 1 - i] = bits % 256;
  for (let block = 0; block < tailBytes; block += BLOCK_BYTES) mix(tail, block);
  for (let i = 0; i < 8; i++) state[i] = swapped(wordAt(state, i));
  return state;
}

function sha256Parts(): HashParts {
  const own = initial.slice();
  const pending = new Uint8Array(BLOCK_BYTES);
  let byteLength = 0;
  return {
    update(bytes) {
      state.set(own);
      let at = 0;
      const begun = byteLength % BLOCK_BYTES;
      byteLength += bytes.length;
      if (begun > 0) {
        at = Math.min(BLOCK_BYTES - begun, bytes.length);
        pending.set(bytes.subarray(0, at), begun);
        if (begun + at === BLOCK_BYTES) mix(pending, 0);
      }
      for (; bytes.length - at >= BLOCK_BYTES; at += BLOCK_BYTES) mix(bytes, at);
      if (at < bytes.length) pending.set(bytes.subarray(at), 0);
      own.set(state);
    },
    words() {
      state.set(own);
      return finish(pending, 0, byteLength);
    },
  };
}

const swapped = (word: number): number =>
  (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);

/**
 * SHA-256 as the one algorithm of a kernel: every digest is `sha256:` and 64 hexadecimal digits.
 *
 * @example
 * const kernel = await createKernel({ hash: sha256Hash });
 */
export const sha256Hash: Hash = /* @__PURE__ */ hashWith("sha256", sha256Words, sha256Parts);

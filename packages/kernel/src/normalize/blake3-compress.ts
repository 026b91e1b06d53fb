/** BLAKE3's initial value, the one of SHA-256. */
export const IV: Int32Array = /* @__PURE__ */ Int32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);

/**
 * BLAKE3's compression function (specification, section 2.2) over the 64 bytes from `at`: `out` receives 16 words, the first
 * 8 of which are the next chaining value; it may be `cv`. Words in local variables: in arrays they take four times as long.
 */
export function compress(
  cv: Int32Array,
  block: Uint8Array,
  at: number,
  counter: number,
  blockBytes: number,
  flags: number,
  out: Int32Array,
): void {
  let m0 = word(block, at + 0);
  let m1 = word(block, at + 4);
  let m2 = word(block, at + 8);
  let m3 = word(block, at + 12);
  let m4 = word(block, at + 16);
  let m5 = word(block, at + 20);
  let m6 = word(block, at + 24);
  let m7 = word(block, at + 28);
  let m8 = word(block, at + 32);
  let m9 = word(block, at + 36);
  let m10 = word(block, at + 40);
  let m11 = word(block, at + 44);
  let m12 = word(block, at + 48);
  let m13 = word(block, at + 52);
  let m14 = word(block, at + 56);
  let m15 = word(block, at + 60);
  let v0 = cv[0]!;
  let v1 = cv[1]!;
  let v2 = cv[2]!;
  let v3 = cv[3]!;
  let v4 = cv[4]!;
  let v5 = cv[5]!;
  let v6 = cv[6]!;
  let v7 = cv[7]!;
  let v8 = IV[0]!;
  let v9 = IV[1]!;
  let v10 = IV[2]!;
  let v11 = IV[3]!;
  let v12 = counter | 0;
  let v13 = (counter / 0x1_0000_0000) | 0;
  let v14 = blockBytes;
  let v15 = flags;
  for (let round = 1; ; round++) {
    // Columns, then diagonals: eight times the mixing function G.
    v0 = (v0 + v4 + m0) | 0;
    v12 ^= v0;
    v12 = (v12 >>> 16) | (v12 << 16);
    v8 = (v8 + v12) | 0;
    v4 ^= v8;
    v4 = (v4 >>> 12) | (v4 << 20);
    v0 = (v0 + v4 + m1) | 0;
    v12 ^= v0;
    v12 = (v12 >>> 8) | (v12 << 24);
    v8 = (v8 + v12) | 0;
    v4 ^= v8;
    v4 = (v4 >>> 7) | (v4 << 25);
    v1 = (v1 + v5 + m2) | 0;
    v13 ^= v1;
    v13 = (v13 >>> 16) | (v13 << 16);
    v9 = (v9 + v13) | 0;
    v5 ^= v9;
    v5 = (v5 >>> 12) | (v5 << 20);
    v1 = (v1 + v5 + m3) | 0;
    v13 ^= v1;
    v13 = (v13 >>> 8) | (v13 << 24);
    v9 = (v9 + v13) | 0;
    v5 ^= v9;
    v5 = (v5 >>> 7) | (v5 << 25);
    v2 = (v2 + v6 + m4) | 0;
    v14 ^= v2;
    v14 = (v14 >>> 16) | (v14 << 16);
    v10 = (v10 + v14) | 0;
    v6 ^= v10;
    v6 = (v6 >>> 12) | (v6 << 20);
    v2 = (v2 + v6 + m5) | 0;
    v14 ^= v2;
    v14 = (v14 >>> 8) | (v14 << 24);
    v10 = (v10 + v14) | 0;
    v6 ^= v10;
    v6 = (v6 >>> 7) | (v6 << 25);
    v3 = (v3 + v7 + m6) | 0;
    v15 ^= v3;
    v15 = (v15 >>> 16) | (v15 << 16);
    v11 = (v11 + v15) | 0;
    v7 ^= v11;
    v7 = (v7 >>> 12) | (v7 << 20);
    v3 = (v3 + v7 + m7) | 0;
    v15 ^= v3;
    v15 = (v15 >>> 8) | (v15 << 24);
    v11 = (v11 + v15) | 0;
    v7 ^= v11;
    v7 = (v7 >>> 7) | (v7 << 25);
    v0 = (v0 + v5 + m8) | 0;
    v15 ^= v0;
    v15 = (v15 >>> 16) | (v15 << 16);
    v10 = (v10 + v15) | 0;
    v5 ^= v10;
    v5 = (v5 >>> 12) | (v5 << 20);
    v0 = (v0 + v5 + m9) | 0;
    v15 ^= v0;
    v15 = (v15 >>> 8) | (v15 << 24);
    v10 = (v10 + v15) | 0;
    v5 ^= v10;
    v5 = (v5 >>> 7) | (v5 << 25);
    v1 = (v1 + v6 + m10) | 0;
    v12 ^= v1;
    v12 = (v12 >>> 16) | (v12 << 16);
    v11 = (v11 + v12) | 0;
    v6 ^= v11;
    v6 = (v6 >>> 12) | (v6 << 20);
    v1 = (v1 + v6 + m11) | 0;
    v12 ^= v1;
    v12 = (v12 >>> 8) | (v12 << 24);
    v11 = (v11 + v12) | 0;
    v6 ^= v11;
    v6 = (v6 >>> 7) | (v6 << 25);
    v2 = (v2 + v7 + m12) | 0;
    v13 ^= v2;
    v13 = (v13 >>> 16) | (v13 << 16);
    v8 = (v8 + v13) | 0;
    v7 ^= v8;
    v7 = (v7 >>> 12) | (v7 << 20);
    v2 = (v2 + v7 + m13) | 0;
    v13 ^= v2;
    v13 = (v13 >>> 8) | (v13 << 24);
    v8 = (v8 + v13) | 0;
    v7 ^= v8;
    v7 = (v7 >>> 7) | (v7 << 25);
    v3 = (v3 + v4 + m14) | 0;
    v14 ^= v3;
    v14 = (v14 >>> 16) | (v14 << 16);
    v9 = (v9 + v14) | 0;
    v4 ^= v9;
    v4 = (v4 >>> 12) | (v4 << 20);
    v3 = (v3 + v4 + m15) | 0;
    v14 ^= v3;
    v14 = (v14 >>> 8) | (v14 << 24);
    v9 = (v9 + v14) | 0;
    v4 ^= v9;
    v4 = (v4 >>> 7) | (v4 << 25);
    if (round === 7) break;
    // The permutation of the message words, as its cycles.
    const first = m0;
    m0 = m2;
    m2 = m3;
    m3 = m10;
    m10 = m12;
    m12 = m9;
    m9 = m11;
    m11 = m5;
    m5 = first;
    const second = m1;
    m1 = m6;
    m6 = m4;
    m4 = m7;
    m7 = m13;
    m13 = m14;
    m14 = m15;
    m15 = m8;
    m8 = second;
  }
  out[8] = v8 ^ cv[0]!;
  out[9] = v9 ^ cv[1]!;
  out[10] = v10 ^ cv[2]!;
  out[11] = v11 ^ cv[3]!;
  out[12] = v12 ^ cv[4]!;
  out[13] = v13 ^ cv[5]!;
  out[14] = v14 ^ cv[6]!;
  out[15] = v15 ^ cv[7]!;
  out[0] = v0 ^ v8;
  out[1] = v1 ^ v9;
  out[2] = v2 ^ v10;
  out[3] = v3 ^ v11;
  out[4] = v4 ^ v12;
  out[5] = v5 ^ v13;
  out[6] = v6 ^ v14;
  out[7] = v7 ^ v15;
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

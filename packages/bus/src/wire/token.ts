const TOKEN_BYTES = 16;
/** Drawn at once: a draw costs more than its bytes. */
const pool = new Uint8Array(TOKEN_BYTES * 64);
let used = pool.length;

const digits: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** 128 random bits, as 32 hexadecimal digits: unguessable. */
export function newToken(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  return hexOf(pool.subarray(used, (used += TOKEN_BYTES)));
}

export function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += digits[byte] ?? "";
  return text;
}

export function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f]{32}$/.test(text);
}

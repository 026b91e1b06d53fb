/** 128 random bits, as 32 hexadecimal digits: nobody guesses one. */
export function newToken(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)));
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f]{32}$/.test(text);
}

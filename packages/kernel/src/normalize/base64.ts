const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Base64 (RFC 4648, section 4). */
export function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const [a, b = 0, c = 0] = bytes.subarray(i, i + 3) as unknown as [number, number?, number?];
    const group = (a << 16) | (b << 8) | c;
    text += digits[group >> 18]! + digits[(group >> 12) & 63]!;
    text += i + 1 < bytes.length ? digits[(group >> 6) & 63]! : "=";
    text += i + 2 < bytes.length ? digits[group & 63]! : "=";
  }
  return text;
}

/** `undefined` for what is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

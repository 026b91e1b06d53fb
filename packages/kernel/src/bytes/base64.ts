const digits = /* @__PURE__ */ new TextEncoder().encode(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
);
const decoder = /* @__PURE__ */ new TextDecoder();
const PADDING = 61;

const digitOf = (value: number): number => digits[value] ?? PADDING;

/** Base64 (RFC 4648, section 4). */
export function encodeBase64(bytes: Uint8Array): string {
  const { length } = bytes;
  const text = new Uint8Array(Math.ceil(length / 3) * 4).fill(PADDING);
  for (let i = 0, at = 0; i < length; i += 3, at += 4) {
    const [a, b, c] = [bytes[i] ?? 0, bytes[i + 1] ?? 0, bytes[i + 2] ?? 0];
    text[at] = digitOf(a >> 2);
    text[at + 1] = digitOf(((a & 3) << 4) | (b >> 4));
    if (i + 1 < length) text[at + 2] = digitOf(((b & 15) << 2) | (c >> 6));
    if (i + 2 < length) text[at + 3] = digitOf(c & 63);
  }
  return decoder.decode(text);
}

/** `undefined` for what is not base64. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const chars = atob(text);
    const bytes = new Uint8Array(chars.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = chars.charCodeAt(i);
    return bytes;
  } catch {
    return undefined;
  }
}

/** Base64url without padding (RFC 4648, section 5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** In its one spelling: `undefined` for what decodes alike and is written otherwise. */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  const bytes = decodeBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  return bytes && encodeBase64Url(bytes) === text ? bytes : undefined;
}

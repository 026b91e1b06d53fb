const signatures: readonly (readonly [string, readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
];

/**
 * The kind of a picture by its first bytes (WHATWG MIME Sniffing, 6.1). Pictures of pixels alone: a document could hold more than a picture.
 */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const found = signatures.find(([, signature]) => signature.every((byte, at) => bytes[at] === byte));
  if (found !== undefined) return found[0];
  const tag = String.fromCharCode(...bytes.subarray(0, 4), ...bytes.subarray(8, 12));
  return tag === "RIFFWEBP" ? "image/webp" : undefined;
}

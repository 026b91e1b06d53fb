import { joinBytes } from "../../bytes/join-bytes.ts";

/**
 * Bytes that come back as they were, or not at all: AES-256-GCM over compressed data. Sealed bytes hold the knowledge of a tool, and their keeper can have changed them.
 *
 * | bytes | what |
 * | --- | --- |
 * | 0 to 15 | `keyhole.suspend1`, authenticated |
 * | 16 to 27 | random initialization vector |
 * | 28 … | ciphertext and 16 bytes of tag |
 */
const magic = new TextEncoder().encode("keyhole.suspend1");
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** More than a machine of the largest default bound with its call's requests. */
const MAX_BYTES = 629_145_600;

export type SealingKey = CryptoKey;

/** @throws TypeError when it has not 32 bytes */
export function sealingKey(bytes: Uint8Array<ArrayBuffer>): Promise<SealingKey> {
  if (bytes.length !== 32) throw new TypeError(`The key of suspended calls has 32 bytes, not ${bytes.length}.`);
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

export async function seal(key: SealingKey, plain: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const packed = await through(plain, new CompressionStream("gzip"));
  const cipher = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: magic }, key, packed);
  const sealed = new Uint8Array(magic.length + IV_BYTES + cipher.byteLength);
  sealed.set(magic);
  sealed.set(iv, magic.length);
  sealed.set(new Uint8Array(cipher), magic.length + IV_BYTES);
  return sealed;
}

/** `undefined`: these are not the bytes that were sealed with this key. The kernel reads no part of them before that. */
export async function unseal(key: SealingKey, sealed: Uint8Array): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const start = magic.length + IV_BYTES;
  if (sealed.length < start + TAG_BYTES || sealed.length > MAX_BYTES) return undefined;
  // A copy: the caller may change them meanwhile.
  const bytes = new Uint8Array(sealed);
  if (!magic.every((byte, at) => bytes[at] === byte)) return undefined;
  const iv = bytes.subarray(magic.length, start);
  try {
    const packed = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv, additionalData: magic },
      key,
      bytes.subarray(start),
    );
    return await through(new Uint8Array(packed), new DecompressionStream("gzip"));
  } catch {
    return undefined;
  }
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = stream.writable.getWriter();
  // A reader sees the faults of a write.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  const reader = stream.readable.getReader();
  const pieces: Uint8Array[] = [];
  for (let next = await reader.read(); next.value; next = await reader.read()) pieces.push(next.value);
  return joinBytes(pieces);
}

import { membersOf } from "@keyhole/kernel/foreign";

/**
 * A message on its way through RPC. RPC carries 32 MiB and writes a text as UTF-16 where one character is above U+00FF. The kernel's
 * bounds count UTF-8. So each text crosses as UTF-8.
 */
export interface Packet {
  /** The message as JSON in UTF-8. Each text in it has a first character that says where the text stands. */
  readonly json: Uint8Array;
  /** Long texts as UTF-8, and bytes, in the order in which the JSON names them. Each has a buffer of its own. */
  readonly parts: readonly Uint8Array[];
}

/** Below the 32 MiB of RPC, with room for the other arguments of one call. */
export const mostPacketBytes = 33_488_896;
/** RPC's own bytes for each part, rounded up. */
const bytesAroundPart = 64;
/** From here on a text is a part: JSON escapes it, and could take six times its bytes. */
const partLength = 1_024;

/** The largest message of a guest without its parts: a few names and lines. */
const mostGuestJson = 65_536;
/** A message of a guest has one long text and one block of bytes. */
const mostGuestParts = 4;

const [inline, text, bytes] = ["=", "t", "b"] as const;

// Taken before a tool loads.
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * @param message data: JSON values and `Uint8Array`
 * @param instead packed where the message is larger than RPC carries
 * @throws RangeError for a larger message without another one in its place
 */
export function packed(message: unknown, instead?: () => unknown): Packet {
  const parts: Uint8Array[] = [];
  const json = encoder.encode(
    JSON.stringify(message ?? null, (_, value: unknown) => {
      if (value instanceof Uint8Array) {
        // RPC would send all of its buffer.
        parts.push(value.byteLength === value.buffer.byteLength ? value : value.slice());
        return bytes;
      }
      if (typeof value !== "string") return value;
      // UTF-8 has no lone surrogate; JSON escapes it.
      if (value.length < partLength || !value.isWellFormed()) return inline + value;
      parts.push(encoder.encode(value));
      return text;
    }),
  );
  const size = parts.reduce((sum, { byteLength }) => sum + byteLength + bytesAroundPart, json.byteLength);
  if (size <= mostPacketBytes) return { json, parts };
  if (instead) return packed(instead());
  throw new RangeError(`A message has ${size} bytes, and RPC carries ${mostPacketBytes}.`);
}

/** Whether RPC does not carry it. */
export function isTooLarge(message: unknown): boolean {
  try {
    packed(message);
    return false;
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}

/** @throws TypeError or SyntaxError for anything that {@link packed} did not make */
export function unpacked({ json, parts }: Packet): unknown {
  let next = 0;
  const message: unknown = JSON.parse(decoder.decode(json), (_, value: unknown) => {
    if (typeof value !== "string") return value;
    const kind = value.slice(0, 1);
    if (kind === inline) return value.slice(1);
    // Each part once: a guest could name a large one a million times.
    const part = parts[next++];
    if (part === undefined) throw new TypeError("a packet without a part that it names");
    if (value === bytes) return part;
    if (value === text) return decoder.decode(part);
    throw new TypeError("a packet with a text of no kind");
  });
  if (next !== parts.length) throw new TypeError("a packet with a part that it does not name");
  return message;
}

/** The same for a packet of a guest, which is hostile. `undefined`: it is none that a shell makes. Never throws. */
export function unpackedOfGuest(data: unknown): unknown {
  try {
    const packet = readPacket(data);
    return packet && unpacked(packet);
  } catch {
    return undefined;
  }
}

function readPacket(data: unknown): Packet | undefined {
  const { json, parts } = membersOf(data);
  if (!(json instanceof Uint8Array) || json.byteLength > mostGuestJson) return undefined;
  if (!Array.isArray(parts) || parts.length > mostGuestParts) return undefined;
  return parts.every((part) => part instanceof Uint8Array) ? { json, parts } : undefined;
}

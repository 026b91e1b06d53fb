import { fix } from "./fix.ts";

// Taken before the tool is loaded, which may replace them.
const { apply } = Reflect;
const byteLength = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength")?.get as (
  this: unknown,
) => unknown;
const detach = Reflect.get(ArrayBuffer.prototype, "transfer") as ((this: ArrayBuffer) => ArrayBuffer) | undefined;
const RealException = typeof DOMException === "function" ? DOMException : undefined;

/**
 * Takes from `structuredClone` what goes through ports: a stream that was given away wakes its reader in tasks of the platform, also when the call is over. Memory can still be given
 * away.
 */
export function hardenClone(global: object): void {
  // An interpreter without streams has none to give away.
  if (typeof ReadableStream !== "function") return;
  const real = Reflect.get(global, "structuredClone") as typeof structuredClone;
  // Node 20 has no other way.
  const give = (buffer: ArrayBuffer): unknown =>
    detach ? apply(detach, buffer, []) : real(buffer, { transfer: [buffer] });
  function HardenedClone(...given: readonly unknown[]): unknown {
    if (given.length === 0) throw new TypeError("structuredClone needs a value");
    const [value, options] = given as readonly [unknown, { readonly transfer?: unknown } | null | undefined];
    const transfer = options?.transfer;
    if (transfer === undefined) return real(value);
    const buffers = buffersOf(transfer);
    const copy: unknown = real(value);
    for (let i = 0; i < buffers.length; i++) give(buffers[i]!);
    return copy;
  }
  fix(HardenedClone, "name", "structuredClone");
  fix(HardenedClone, "length", 1);
  fix(global, "structuredClone", HardenedClone);
}

/** @throws DOMException as the engine does for what cannot be given away */
function buffersOf(transfer: unknown): ArrayBuffer[] {
  const buffers: ArrayBuffer[] = [];
  for (const entry of transfer as Iterable<unknown>) {
    if (!isBuffer(entry) || entry.detached || isIn(buffers, entry))
      throw new RealException!("An entry of the transfer list could not be transferred.", "DataCloneError");
    fix(buffers, buffers.length, entry);
  }
  return buffers;
}

function isIn(buffers: readonly ArrayBuffer[], entry: ArrayBuffer): boolean {
  for (let i = 0; i < buffers.length; i++) if (buffers[i] === entry) return true;
  return false;
}

/** By its internal slot, under any prototype. */
function isBuffer(entry: unknown): entry is ArrayBuffer {
  try {
    apply(byteLength, entry, []);
    return true;
  } catch {
    return false;
  }
}

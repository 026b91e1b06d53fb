/** Ids of sections (WebAssembly core, 5.5.2). */
const MEMORY_SECTION = 5;
/** Of the flags before a memory's limits (threads proposal). */
const SHARED = 2;

// Taken before the tool is loaded, which may replace the getter: a module without a length would declare nothing.
const { apply } = Reflect;
const lengthOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "length")?.get as (
  this: Uint8Array,
) => number;

/**
 * Whether a module declares a memory that threads can share. An imported one does not matter,
 * because no host has one to give. Returns `false` for bytes that are no module: they do not run.
 */
export function declaresSharedMemory(bytes: Uint8Array): boolean {
  const length = apply(lengthOf, bytes, []);
  let at = 8;
  const leb = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  const skipLeb = (): void => {
    while ((bytes[at++] ?? 0) >= 0x80);
  };
  while (at < length) {
    const id = bytes[at++];
    const end = leb() + at;
    if (id === MEMORY_SECTION) {
      const count = leb();
      for (let memory = 0; memory < count && at < end; memory++) {
        const flags = leb();
        if ((flags & SHARED) !== 0) return true;
        skipLeb();
        if ((flags & 1) !== 0) skipLeb();
        if ((flags & 8) !== 0) skipLeb(); // Its page size (custom page sizes proposal).
      }
    }
    at = end;
  }
  return false;
}

/** What a tool keeps between calls: module state, another isolate has its own. */
let kept = new Uint8Array();

const fresh = (length: number): Uint8Array<ArrayBuffer> => (kept = new Uint8Array(length).fill(7));

/** What it says of itself is about other memory than its own. */
class Liar extends Uint8Array {
  override get length(): number {
    return 1;
  }
  override get byteLength(): number {
    return 1;
  }
  override get byteOffset(): number {
    return 2;
  }
}

/** Good and bad bytes, one return per call: what every isolate must take from a tool. */
const deeds: Readonly<Record<string, (length: number) => unknown>> = {
  fresh,
  again: () => kept,
  /** How many bytes the tool still has. */
  left: () => Uint8Array.of(kept.length),
  empty: () => fresh(0),
  "part of more": (length) => fresh(length + 2).subarray(1, 1 + length),
  "another view stays": (length) => {
    const bytes = fresh(length);
    kept = new Uint8Array(bytes.buffer);
    return bytes;
  },
  "write later": (length) => {
    const bytes = fresh(length);
    void (async () => {
      // While the call ends, and after it.
      for (let turn = 0; turn < length; turn++) {
        await null;
        bytes[turn] = 9;
      }
    })();
    return bytes;
  },
  "after a turn": async () => {
    await null;
    return kept;
  },

  "shared memory": (length) => {
    // Where the realm has none, its own is as good.
    if (typeof SharedArrayBuffer === "undefined") return fresh(length);
    return new Uint8Array(new SharedArrayBuffer(length)).fill(7);
  },
  "memory of a module": () => {
    if (typeof WebAssembly === "undefined") return new Uint8Array(65_536);
    return new Uint8Array(new WebAssembly.Memory({ initial: 1 }).buffer);
  },
  "a buffer that can shrink": (length) =>
    (kept = new Uint8Array(new ArrayBuffer(length, { maxByteLength: 2 * length })).fill(7)),
  /** Whether it still could. */
  shrink: () => {
    try {
      kept.buffer.resize(0);
      return Uint8Array.of(1);
    } catch {
      return Uint8Array.of(0);
    }
  },
  "a buffer that has shrunk": (length) => {
    const buffer = new ArrayBuffer(length, { maxByteLength: length });
    const bytes = new Uint8Array(buffer, 0, length);
    buffer.resize(0);
    return bytes;
  },
  detached: (length) => {
    const bytes = fresh(length);
    bytes.buffer.transfer();
    return bytes;
  },
  "a liar": (length) => new Liar(length).fill(7),
  "a proxy": (length) => new Proxy(fresh(length), {}),
  "no bytes": () => ({ length: 1, byteLength: 1, 0: 7 }),
  "other numbers": (length) => new Uint16Array(length),
  "a then on it": (length) =>
    Object.assign(fresh(length), { then: (resolve: (value: unknown) => void) => resolve(Uint8Array.of(1, 2)) }),
};

function doDeed({ deed, length = 0 }: { readonly deed: string; readonly length?: number }): Uint8Array {
  return deeds[deed]!(length) as Uint8Array;
}

/** What two tools have in common that differ in their output. */
export const bytesTool = {
  version: "1.0.0",
  determinism: "external",
  bounds: { outputBytes: 1_000_000 },
  input: { type: "object", properties: { deed: { type: "string" }, length: { type: "integer" } }, required: ["deed"] },
  execute: doDeed,
} as const;

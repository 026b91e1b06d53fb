import { pointerTokens, type NormalizeReason, snapshot } from "@keyhole/kernel";

/** Reasons for which the kernel refuses a value, and a message carries it either not at all or as something else. */
type Stray = Extract<NormalizeReason, "accessor" | "function" | "not-plain" | "symbol">;

/** A caller's value for the kernel's worker: a copy, or the place of a part that cannot cross. */
export type CloneSafe =
  | { readonly value: unknown }
  | { readonly stray: Stray; /** JSON Pointer. */ readonly path: string };

/** Never throws, so that what cannot be sent is refused by the kernel, in its own words, and not by the browser. */
export function cloneSafe(value: unknown): CloneSafe {
  const bytes = bytesIn(value);
  if (bytes) return { value: bytes };
  const plain = snapshot(value);
  if (plain.ok) return { value: plain.value };
  const { reason, path } = plain.error;
  if (isStray(reason)) return { stray: reason, path };
  try {
    return { value: structuredClone(value) };
  } catch {
    return { stray: "not-plain", path };
  }
}

/** Of a package or a snapshot. */
function bytesIn(value: unknown): Uint8Array | undefined {
  try {
    return value instanceof Uint8Array ? Uint8Array.from(value) : undefined;
  } catch {
    return undefined; // A proxy, or an object that only looks like bytes.
  }
}

/** The worker's end: a value that the kernel refuses for the same reason at the same place. */
export function fromCloneSafe(crossed: CloneSafe): unknown {
  if ("value" in crossed) return crossed.value;
  const tokens = ["", ...pointerTokens(crossed.path)];
  const last = tokens.pop()!;
  const root: Record<string, unknown> = {};
  let parent = root;
  for (const token of tokens) parent = parent[token] = {} as Record<string, unknown>;
  Object.defineProperty(parent, last, { enumerable: true, ...standIns[crossed.stray] });
  return root[""];
}

const standIns = {
  accessor: { get: () => undefined },
  function: { value: () => undefined },
  "not-plain": { value: Object.create({}) as unknown },
  symbol: { value: Symbol() },
} satisfies Record<Stray, PropertyDescriptor>;

function isStray(reason: NormalizeReason): reason is Stray {
  return Object.hasOwn(standIns, reason);
}

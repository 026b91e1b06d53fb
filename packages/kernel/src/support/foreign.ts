/*
 * What somebody else gave: a caller, a tool, the answer of a broker or of an approver. It can be another thing at each look: a getter, a Proxy, an object that
 * its owner changes. So it is `unknown`, and is looked at once: by `snapshot`, or by taking {@link membersOf} it apart.
 */

/** A function that hears something, and whose answer has no reader. {@link tell} calls it. */
export type Listener<Args extends readonly unknown[]> = (...args: Args) => void;

/** Takes a value without a reader. The rejection of such a promise stays silent, and does not end the process. */
export function absorb(given: unknown): void {
  if ((typeof given !== "object" && typeof given !== "function") || given === null) return;
  // By a promise of our own: an exception of their `then` ends here as well.
  void new Promise((resolve) => resolve(given)).catch(() => undefined);
}

/** Calls a listener. Its exceptions and rejections concern its owner alone. */
export function tell<Args extends readonly unknown[]>(listener: Listener<Args> | undefined, args: Args): void {
  try {
    absorb(listener?.(...args));
  } catch {
    // No part here can do anything about it.
  }
}

/**
 * The members of a foreign object, to be taken apart at once: then each is read once. What is no object has none.
 *
 * @throws when it is taken apart, the exception of a getter or a trap
 */
export function membersOf(foreign: unknown): Readonly<Record<string, unknown>> {
  return typeof foreign === "object" && foreign !== null ? (foreign as Readonly<Record<string, unknown>>) : {};
}

/** A text, cut and well-formed, so that it can go into a log; what is none is empty. */
export function shortTextOf(foreign: unknown, length: number): string {
  return typeof foreign === "string" ? foreign.slice(0, length).toWellFormed() : "";
}

/** A view of ours of foreign bytes, of any realm; `undefined` for what is none, or whose memory is gone. The memory stays theirs. */
export function bytesOf(foreign: unknown): Uint8Array | undefined {
  if (!isBytes(foreign)) return undefined;
  try {
    return new Uint8Array(slots.buffer.call(foreign), slots.byteOffset.call(foreign), slots.length.call(foreign));
  } catch {
    return undefined;
  }
}

/** Whether it is a `Uint8Array`, of any realm. */
export function isBytes(foreign: unknown): boolean {
  return slots.name.call(foreign) === "Uint8Array";
}

/** The getters of `%TypedArray%.prototype`: they know a typed array of any realm and cannot be deceived, by a subclass or a Proxy. */
const slots = /* @__PURE__ */ (() => {
  const getter = (name: string | symbol): ((this: unknown) => never) =>
    Reflect.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype) as object, name)!.get as () => never;
  return {
    name: getter(Symbol.toStringTag) as (this: unknown) => string | undefined,
    buffer: getter("buffer") as (this: unknown) => ArrayBuffer,
    byteOffset: getter("byteOffset"),
    length: getter("length"),
  };
})();

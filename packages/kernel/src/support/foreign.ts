/*
 * What somebody else gave: an approver, a broker, a host, a sink, a caller. It can be another thing at each look: a getter, a Proxy, an object that its owner
 * changes. So nobody looks at it but the functions of this file and `snapshot`, which take from each place once and give what is ours.
 */

declare const unread: unique symbol;

/** Has no member in common with anything: beside it, no member of anything can be read. */
interface Unread {
  readonly [unread]: never;
}

/** A foreign value before its one reading. The lint rule `keyhole/read-once` lets each be used once. */
export type Foreign<T> = T | Unread;

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

/** Of any of the types of a union. */
type NamesOf<T> = T extends unknown ? keyof T : never;
type MemberOf<T, Name> = T extends unknown ? (Name extends keyof T ? T[Name] : undefined) : never;

/**
 * The named members, each read once; of what is no object, none.
 *
 * @throws the exception of a getter or a trap
 */
export function membersOf<T, const Name extends NamesOf<T>>(
  foreign: Foreign<T>,
  ...names: readonly Name[]
): { readonly [Each in Name]: Foreign<MemberOf<T, Each>> | undefined } {
  const object = (typeof foreign === "object" ? foreign : undefined) as Partial<Record<Name, never>> | null | undefined;
  const members: Partial<Record<Name, never>> = {};
  for (const name of names) members[name] = object?.[name];
  return members as Record<Name, never>;
}

/** The items of a list, each read once; `undefined` for what is no list, or a longer one. */
export function itemsOf<T>(foreign: Foreign<readonly T[] | undefined>, most: number): Foreign<T>[] | undefined {
  if (!Array.isArray(foreign)) return undefined;
  const list = foreign as readonly T[];
  const { length } = list;
  return length <= most ? Array.from({ length }, (_, at) => list[at]!) : undefined;
}

/** A text; what is none is empty. */
export function textOf(foreign: Foreign<string | null | undefined>): string {
  return typeof foreign === "string" ? foreign : "";
}

/** {@link textOf}, cut and well-formed, so that it can go into a log. */
export function shortTextOf(foreign: Foreign<string | null | undefined>, length: number): string {
  return textOf(foreign).slice(0, length).toWellFormed();
}

/** A view of ours of foreign bytes, of any realm; `undefined` for what is none, or whose memory is gone. The memory stays theirs. */
export function bytesOf(foreign: Foreign<unknown>): Uint8Array | undefined {
  if (!isBytes(foreign)) return undefined;
  try {
    return new Uint8Array(slots.buffer.call(foreign), slots.byteOffset.call(foreign), slots.length.call(foreign));
  } catch {
    return undefined;
  }
}

/** Whether it is a `Uint8Array`, of any realm. */
export function isBytes(foreign: Foreign<unknown>): boolean {
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

/** Reads each object once, by its identity: a repeated object has its first reading. */
export function byIdentity<T extends object, Own>(read: (foreign: Foreign<T>) => Own): (foreign: Foreign<T>) => Own {
  const known = new WeakMap<object, Own>();
  return (given) => {
    const own = known.get(given) ?? read(given);
    known.set(given, own);
    return own;
  };
}

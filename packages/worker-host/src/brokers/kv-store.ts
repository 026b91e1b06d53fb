import { fault, type StoreResult } from "./store.ts";

/** Why a store of values did not do what it was asked: an expected state of the world, no bug. */
export type KvFault = "not-found" | "too-large" | "no-space" | "broken";

export type KvResult<Value> = StoreResult<Value, KvFault>;

/** One page of keys. */
export interface KvPage {
  readonly keys: readonly string[];
  /** Where the next page begins, for `after`. Absent on the last page. */
  readonly next?: string;
}

/**
 * Where values are, by key. Keys have passed `checkKey`. Never rejects for what the world did. `test/contract/kv.ts` says what every store must do.
 */
export interface KvStore {
  /** Whole or not at all; a value of more than `limitBytes` is `too-large`. */
  get(key: string, limitBytes: number): Promise<KvResult<Uint8Array>>;
  /** Replaces the value, whole or not at all: no reader ever sees a part. */
  put(key: string, bytes: Uint8Array): Promise<KvResult<undefined>>;
  /** A key that is not there is no fault: afterwards it is not there. */
  delete(key: string): Promise<KvResult<undefined>>;
  /**
   * Keys that begin with `prefix`, in the order of their UTF-8 bytes.
   *
   * @param limit 1 to 1,000
   * @param after `next` of a page of the same prefix; any other text may give any page of this
   * prefix, or a fault
   */
  list(prefix: string, limit: number, after?: string): Promise<KvResult<KvPage>>;
}

/** A page of at most `limit` keys, from a list that holds one more where there is more. */
export function pageOf(keys: readonly string[], limit: number): KvPage {
  const page = keys.slice(0, limit);
  const last = page.at(-1);
  return { keys: page, ...(keys.length > limit && last !== undefined && { next: last }) };
}

/** The keys that begin with a prefix, as a range of bytes: from the prefix itself to what follows the last of them. */
export function rangeOf(prefix: string): {
  readonly from: Uint8Array<ArrayBuffer>;
  readonly to: Uint8Array<ArrayBuffer>;
} {
  const from = new Uint8Array(new TextEncoder().encode(prefix));
  const to = new Uint8Array(from.length === 0 ? [0xff] : from);
  // No byte of UTF-8 is 0xff, so that the last one has a successor.
  if (from.length > 0) to[to.length - 1]! += 1;
  return { from, to };
}

/** Runs one operation of a store. An error that `faultOf` does not know is `broken`. */
export async function attempt<Value>(
  operation: () => KvResult<Value> | Promise<KvResult<Value>>,
  faultOf: (error: unknown) => KvFault | undefined = () => undefined,
): Promise<KvResult<Value>> {
  try {
    return await operation();
  } catch (error) {
    return fault(faultOf(error) ?? "broken");
  }
}

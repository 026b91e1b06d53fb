import type { BrokerError } from "../capability/request.ts";
import type { Revealed } from "../capability/secret.ts";
import { tooMany, unlistable, unreadable } from "./refusals.ts";
import { type After, type Read, readNames, readValue, type SecretStore } from "./source.ts";

/** Names at the hosts of one call. Each is a question to the store in every call. */
const maxNames = 256;

/**
 * The values that one call has read from the store. It keeps no failure: the next answer asks
 * again.
 */
export class Values {
  readonly #store: SecretStore;
  readonly #after: After;
  readonly #values = new Map<string, Promise<Read<string | undefined>>>();
  readonly #names = new Map<string, Promise<Read<readonly string[]>>>();

  constructor(store: SecretStore, after: After) {
    this.#store = store;
    this.#after = after;
  }

  /** Why the names that some pattern stands for cannot be known. */
  unlisted(patterns: readonly string[]): BrokerError | undefined {
    return typeof this.#store.list === "function" || !patterns.some(isPattern) ? undefined : unlistable;
  }

  async namesOf(patterns: readonly string[]): Promise<Revealed<ReadonlySet<string>>> {
    const error = this.unlisted(patterns);
    if (error) return { ok: false, error };
    const names = new Set(patterns.filter((each) => !isPattern(each)));
    for (const pattern of new Set(patterns.filter(isPattern))) {
      const prefix = pattern.slice(0, -1);
      const read = await kept(this.#names, prefix, () => readNames(this.#store, prefix, this.#after));
      if (!read.ok) return unreadable;
      for (const name of read.value) names.add(name);
    }
    return names.size > maxNames ? tooMany(maxNames) : { ok: true, value: names };
  }

  /** Without the names that have no value. */
  async all(names: ReadonlySet<string>): Promise<Revealed<ReadonlyMap<string, string>>> {
    const values = new Map<string, string>();
    const reads = Array.from(names, async (name) => {
      const read = await kept(this.#values, name, () => readValue(this.#store, name, this.#after));
      if (read.ok && read.value !== undefined) values.set(name, read.value);
      return read.ok;
    });
    return (await Promise.all(reads)).every(Boolean) ? { ok: true, value: values } : unreadable;
  }
}

const isPattern = (name: string): boolean => name.endsWith("*");

async function kept<Value>(
  reads: Map<string, Promise<Read<Value>>>,
  key: string,
  read: () => Promise<Read<Value>>,
): Promise<Read<Value>> {
  const known = reads.get(key);
  if (known) return known;
  const reading = read();
  reads.set(key, reading);
  const result = await reading;
  if (!result.ok) reads.delete(key);
  return result;
}

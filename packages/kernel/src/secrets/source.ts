import { maxLength, minLength } from "./found.ts";

/** Where the values are: a vault, an environment, a page's memory. The embedding program's own. */
export interface SecretStore {
  /**
   * The value as it is now, or `undefined` where there is none: 8 to 4,096 UTF-16 units. The kernel asks once per call and name, for secrets that the call
   * uses and for those that a server could answer with. So the method returns the same value until the secret is rotated.
   */
  get(name: string): Promise<string | undefined> | string | undefined;
  /** All names that begin with a prefix. Only for policies that grant secrets by a pattern (`github_*`): without it their calls fail. */
  list?(prefix: string): Promise<readonly string[]> | readonly string[];
}

/** Calls back once after a time, unless the returned function was called before. */
export type After = (delayMs: number, callback: () => void) => () => void;

/** A read of the store. A failure has no message of the store, which could name a value. */
export type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false };

/** Half of the default `timeoutMs` of a tool: the tool learns why it has no answer, before its call ends. */
const storeMs = 5_000;

/** A store that fails, gives something else or takes too long is all the same: nothing is known of the value. */
export async function readValue(store: SecretStore, name: string, after: After): Promise<Read<string | undefined>> {
  const read = await inTime(() => store.get(name), after);
  return read.ok ? { ok: true, value: isUsable(read.value) ? read.value : undefined } : read;
}

export async function readNames(store: SecretStore, prefix: string, after: After): Promise<Read<readonly string[]>> {
  const read = await inTime(() => store.list?.(prefix), after);
  if (!read.ok || !Array.isArray(read.value)) return { ok: false };
  const names = read.value.map(String);
  return { ok: true, value: names };
}

/** No kernel ever sent another one. */
function isUsable(value: unknown): value is string {
  return typeof value === "string" && value.length >= minLength && value.length <= maxLength && value.isWellFormed();
}

async function inTime(ask: () => unknown, after: After): Promise<Read<unknown>> {
  const late = Promise.withResolvers<Read<unknown>>();
  const stop = after(storeMs, () => late.resolve({ ok: false }));
  const asked = (async () => ask())().then(
    (value): Read<unknown> => ({ ok: true, value }),
    (): Read<unknown> => ({ ok: false }),
  );
  return Promise.race([asked, late.promise]).finally(stop);
}

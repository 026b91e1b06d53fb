import type * as reader from "./reopen.ts";

let loaded: typeof reader | undefined;

/**
 * The reader of a log that has events: a new log needs none.
 *
 * @throws the platform's error where the module does not load
 */
export async function loadReader(): Promise<typeof reader> {
  return (loaded ??= await import("./reopen.ts"));
}

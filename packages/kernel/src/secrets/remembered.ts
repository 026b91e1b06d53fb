import { finder, type Found } from "./found.ts";
import { Matcher } from "./matcher.ts";

/** More values than one kernel has in use. */
const most = 256;

/**
 * Values that any call read from the store, present ones and those before a rotation: a server can
 * pass a value of one call to another. Bounded: the longest unused value leaves first. The search
 * still finds the values that the policy grants at the hosts of a call.
 */
export class Remembered {
  readonly #found = new Map<string, Found>();
  #matcher: Matcher | undefined;

  add(value: string): Found {
    const known = this.#found.get(value);
    const found = known ?? finder(value);
    this.#found.delete(value);
    this.#found.set(value, found);
    if (!known) this.#matcher = undefined;
    for (const oldest of this.#found.keys()) {
      if (this.#found.size <= most) break;
      this.#found.delete(oldest);
    }
    return found;
  }

  /** For all of them, and for what a call has to find besides. */
  matcher(needed: ReadonlySet<Found>): Matcher {
    this.#matcher ??= new Matcher([...this.#found.values()]);
    const forgotten = [...needed].filter(({ value }) => !this.#found.has(value));
    return forgotten.length === 0 ? this.#matcher : new Matcher([...forgotten, ...this.#matcher.found]);
  }
}

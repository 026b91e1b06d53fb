import { finder, type Found } from "./found.ts";
import { Matcher } from "./matcher.ts";

/** More values than one kernel has in use. */
const most = 256;

/**
 * Values that any call read from the store, the present ones and those before a rotation: a server that one call told can answer another. Bounded: the
 * longest unused go first. What the policy grants at the hosts of a call is found all the same.
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

/** `undefined` where something belongs to nobody. */
type Owner = string | undefined;

/**
 * How much of one bounded thing each owner has. A feature whose thing is full either refuses or takes, and looks at the owner in both cases:
 *
 * - It refuses by {@link Shares.isFull}. So one owner has at most half, and each further one at most half of the rest.
 * - It takes from the owner with the most, by {@link Shares.next}. So a flood of one owner displaces nothing of another.
 */
export class Shares {
  readonly #byOwner = new Map<Owner, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** @param amount negative where something is gone */
  add(owner: Owner, amount: number): void {
    const share = this.of(owner) + amount;
    this.#total += amount;
    if (share > 0) this.#byOwner.set(owner, share);
    else this.#byOwner.delete(owner);
  }

  of(owner: Owner): number {
    return this.#byOwner.get(owner) ?? 0;
  }

  /**
   * Whether so much more would leave less free than the owner has now. Nobody's part has no share: it can take the rest.
   *
   * @param most all that there is, in use or free
   * @param more a whole number. Default 1
   */
  isFull(owner: Owner, most: number, more = 1): boolean {
    return (owner === undefined ? 0 : this.of(owner)) > most - this.#total - more;
  }

  /**
   * The entry to take from a full memory: the first of the owner with the most.
   *
   * @param entries the oldest first
   */
  next<Key, Entry>(entries: Iterable<readonly [Key, Entry]>, ownerOf: (entry: Entry) => Owner): Key | undefined {
    let [most, owner]: [number, Owner] = [0, undefined];
    for (const [each, share] of this.#byOwner) if (share > most) [most, owner] = [share, each];
    for (const [key, entry] of entries) if (ownerOf(entry) === owner) return key;
    return undefined;
  }
}

/** The most that one owner can have, where nobody else has any. */
export const shareOf = (most: number): number => Math.ceil(most / 2);

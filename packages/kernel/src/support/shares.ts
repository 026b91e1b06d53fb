/**
 * How much of a memory each owner has. A memory that is full takes from the owner with the most, so that a flood of one owner displaces nothing of
 * another.
 */
export class Shares {
  readonly #byOwner = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** @param amount negative where something is gone */
  add(owner: string, amount: number): void {
    const share = this.of(owner) + amount;
    this.#total += amount;
    if (share > 0) this.#byOwner.set(owner, share);
    else this.#byOwner.delete(owner);
  }

  of(owner: string): number {
    return this.#byOwner.get(owner) ?? 0;
  }

  /**
   * The entry to take from a full memory: the first of the owner with the most.
   *
   * @param entries the oldest first
   */
  next<Key, Entry>(entries: Iterable<readonly [Key, Entry]>, ownerOf: (entry: Entry) => string): Key | undefined {
    let [most, owner]: [number, string | undefined] = [0, undefined];
    for (const [each, share] of this.#byOwner) if (share > most) [most, owner] = [share, each];
    for (const [key, entry] of entries) if (ownerOf(entry) === owner) return key;
    return undefined;
  }
}

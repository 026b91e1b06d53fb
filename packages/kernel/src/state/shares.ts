/** A key that begins with a caller's name, as JSON: `["ada",…`. All others belong to no caller. */
const named = /^\["(?:[^"\\]|\\.)*"/;

const ownerOf = (key: string): string | undefined => named.exec(key)?.[0];

/**
 * The shares of callers in one table. A caller can add rows while it has fewer than are free. So one
 * caller takes at most half of the table, and each further one at most half of the rest.
 */
export class Shares {
  readonly #maxRows: number;
  readonly #rows = new Map<string, number>();

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  /** @param rows more, or fewer where negative */
  count(key: string, rows: number): void {
    const owner = ownerOf(key);
    if (owner === undefined) return;
    const held = (this.#rows.get(owner) ?? 0) + rows;
    if (held > 0) this.#rows.set(owner, held);
    else this.#rows.delete(owner);
  }

  /** @param size of the table now */
  isFull(key: string, size: number): boolean {
    return (this.#rows.get(ownerOf(key) ?? "") ?? 0) >= this.#maxRows - size;
  }
}

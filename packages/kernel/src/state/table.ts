/** A table as it is declared, whatever its rows are. */
export interface DeclaredTable {
  /** `feature.subject`: no two tables of a kernel have one name. */
  readonly name: string;
  /** Counted up with every change of what its rows mean. */
  readonly version: number;
  readonly size: number;
}

/**
 * One feature's state that has to outlive the kernel, declared once, in the feature's own file. It is the feature's memory as well: reads are
 * synchronous, so that a decision waits for no store. Today all rows are in memory; what the log restores, the feature puts in when it opens.
 *
 * Rows are kept in the order in which their keys were put first.
 */
export class StateTable<Row> implements DeclaredTable {
  readonly name: string;
  readonly version: number;
  readonly #rows = new Map<string, Row>();

  constructor(name: string, version: number) {
    this.name = name;
    this.version = version;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  put(key: string, row: Row): void {
    this.#rows.set(key, row);
  }

  /** `false` when there was none. */
  remove(key: string): boolean {
    return this.#rows.delete(key);
  }

  /** Oldest first. Rows that are removed meanwhile are left out. */
  entries(): Iterable<readonly [key: string, row: Row]> {
    return this.#rows;
  }

  /** The oldest goes, so that what is kept stays bounded. */
  removeOldest(): void {
    const [oldest] = this.#rows.keys();
    if (oldest !== undefined) this.#rows.delete(oldest);
  }
}

import type { JsonValue } from "../json/json.ts";
import type { DeclaredTable, RowChange } from "./change.ts";

/** An unknown table has no rule to drop rows. */
const MAX_ROWS = 100_000;

/** Rows of a feature that this kernel does not have: kept as they are, for the next kernel that has it. */
export class UnknownTable implements DeclaredTable {
  readonly name: string;
  readonly version: number;
  readonly maxRows: number = MAX_ROWS;
  readonly #rows = new Map<string, RowChange>();

  constructor(name: string, version: number) {
    this.name = name;
    this.version = version;
  }

  get size(): number {
    return this.#rows.size;
  }

  rows(): Iterable<RowChange> {
    return this.#rows.values();
  }

  take(key: string, row: JsonValue, version: number): number {
    if (row === null) this.#rows.delete(key);
    else this.#rows.set(key, [this.name, version, key, row]);
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > MAX_ROWS && oldest !== undefined) this.#rows.delete(oldest);
    return 0;
  }

  expire(): void {
    // Only its feature knows.
  }

  empty(): UnknownTable {
    return new UnknownTable(this.name, this.version);
  }
}

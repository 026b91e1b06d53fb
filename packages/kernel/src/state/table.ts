import type { JsonValue } from "../json/json.ts";
import type { DeclaredTable, RowChange, StateChange } from "./change.ts";
import { Shares } from "../support/shares.ts";
import { ownerOf } from "./owner.ts";

export interface Codec<Row> {
  encode(row: Row): JsonValue;
  /** Reads every version that the feature ever wrote; `undefined` for anything else. */
  decode(value: JsonValue, version: number): Row | undefined;
}

export interface TableDeclaration<Row> {
  /** `feature.subject`: no two tables of a kernel have one name. */
  readonly name: string;
  readonly version: number;
  readonly codec: Codec<Row>;
  readonly maxRows: number;
  /** `forget-oldest`: a row too many takes the place of the oldest row of the caller with the most. `refuse`: its feature asks {@link StateTable.isFull} first. */
  readonly whenFull: "forget-oldest" | "refuse";
  /** Since the epoch: from when on the row is forgotten. Default: never. */
  readonly untilMs?: (row: Row) => number;
  /** Since the epoch: when it was written. Default: it does not say. */
  readonly writtenMs?: (row: Row) => number;
}

/**
 * One feature's state that outlives the kernel, declared once, in the feature's own file. It is the feature's memory as well: reads are synchronous, so that a decision waits for no
 * store. A change is made here and takes effect when `AuditLog.record` writes it with its event. So memory and log say the same.
 *
 * Rows are kept in the order in which their keys were put first.
 */
export class StateTable<Row> implements DeclaredTable {
  readonly name: string;
  readonly version: number;
  readonly maxRows: number;
  readonly #declared: TableDeclaration<Row>;
  readonly #rows = new Map<string, Row>();
  readonly #shares = new Shares();

  constructor(declared: TableDeclaration<Row>) {
    this.#declared = declared;
    this.name = declared.name;
    this.version = declared.version;
    this.maxRows = declared.maxRows;
  }

  get size(): number {
    return this.#rows.size;
  }

  get isFull(): boolean {
    return this.#rows.size >= this.maxRows;
  }

  /** Whether the caller whose name begins a key has its share. */
  isFullFor(key: string): boolean {
    return this.#shares.isFull(ownerOf(key), this.maxRows);
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  /** Oldest first. Rows that are removed meanwhile are left out. */
  entries(): Iterable<readonly [key: string, row: Row]> {
    return this.#rows;
  }

  put(key: string, row: Row): readonly StateChange[] {
    const put: StateChange = {
      change: [this.name, this.version, key, this.#declared.codec.encode(row)],
      apply: () => this.#set(key, row),
    };
    if (this.#declared.whenFull === "refuse" || !this.isFull || this.#rows.has(key)) return [put];
    const oldest = this.#shares.next(keysOf(this.#rows), ownerOf);
    return oldest === undefined ? [put] : [...this.remove(oldest), put];
  }

  /** No change where there is no such row. */
  remove(key: string): readonly StateChange[] {
    if (!this.#rows.has(key)) return [];
    return [{ change: [this.name, this.version, key, null], apply: () => this.#delete(key) }];
  }

  *rows(): Iterable<RowChange> {
    for (const [key, row] of this.#rows) yield [this.name, this.version, key, this.#declared.codec.encode(row)];
  }

  take(key: string, value: JsonValue, version: number): number | undefined {
    if (value === null) {
      this.#delete(key);
      return 0;
    }
    const row = version <= this.version ? this.#declared.codec.decode(value, version) : undefined;
    if (row === undefined) return undefined;
    this.#set(key, row);
    return this.#declared.writtenMs?.(row) ?? 0;
  }

  expire(nowMs: number, onExpired?: (key: string, row: Row) => void): void {
    const { untilMs } = this.#declared;
    if (!untilMs) return;
    for (const [key, row] of this.#rows) {
      if (untilMs(row) > nowMs) continue;
      this.#delete(key);
      onExpired?.(key, row);
    }
  }

  empty(): StateTable<Row> {
    return new StateTable(this.#declared);
  }

  #set(key: string, row: Row): void {
    if (!this.#rows.has(key)) this.#shares.add(ownerOf(key), 1);
    this.#rows.set(key, row);
  }

  #delete(key: string): void {
    if (this.#rows.delete(key)) this.#shares.add(ownerOf(key), -1);
  }
}

function* keysOf(rows: ReadonlyMap<string, unknown>): Iterable<readonly [string, string]> {
  for (const key of rows.keys()) yield [key, key];
}

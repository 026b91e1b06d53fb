import { pointerTo } from "../../form/value.ts";

/** One line of a tree. */
export interface TreeRow {
  /** RFC 6901, from the root of the result; it tells rows apart. */
  readonly pointer: string;
  readonly depth: number;
  /** Name of the member or number of the item; empty for the root. */
  readonly name: string;
  readonly value: unknown;
  /** Members or items within; `undefined` for a value that has none. */
  readonly size: number | undefined;
  readonly isOpen: boolean;
  /** Hidden children below. */
  readonly more?: number;
}

/** Children that one press shows: a list of a million items is no million rows at once. */
export const childrenAtOnce = 1_000;

export interface TreeState {
  /** Rows that a person opened or closed; the others are as deep as {@link openDepth}. */
  readonly toggled: ReadonlySet<string>;
  /** How many children the tree shows of those with more than {@link childrenAtOnce}. */
  readonly shown: ReadonlyMap<string, number>;
}

/** Open at first: the root and what stands right below it. */
const openDepth = 2;

/** The rows of a tree, as far as it is open. */
export function treeRows(value: unknown, state: TreeState): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  const visit = (name: string, value: unknown, pointer: string, depth: number): void => {
    const entries = entriesOf(value);
    const isOpen = entries !== undefined && entries.size > 0 && isOpenAt(entries.size, pointer, depth, state);
    rows.push({ pointer, depth, name, value, size: entries?.size, isOpen });
    if (!isOpen) return;
    const shown = state.shown.get(pointer) ?? childrenAtOnce;
    for (const [key, each] of entries.first(shown)) visit(key, each, pointerTo(pointer, key), depth + 1);
    const more = entries.size - shown;
    if (more > 0)
      rows.push({
        pointer: `${pointer}/…`,
        depth: depth + 1,
        name: "",
        value: undefined,
        size: undefined,
        isOpen: false,
        more,
      });
  };
  visit("", value, "", 0);
  return rows;
}

function isOpenAt(size: number, pointer: string, depth: number, { toggled }: TreeState): boolean {
  const atFirst = depth < openDepth && (depth === 0 || size <= 50);
  return toggled.has(pointer) ? !atFirst : atFirst;
}

interface Entries {
  readonly size: number;
  first(count: number): Iterable<readonly [string, unknown]>;
}

function entriesOf(value: unknown): Entries | undefined {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return { size: items.length, first: (count) => items.slice(0, count).map((each, index) => [String(index), each]) };
  }
  if (typeof value !== "object" || value === null) return undefined;
  const entries = Object.entries(value);
  return { size: entries.length, first: (count) => entries.slice(0, count) };
}

import type { JsonValue } from "../json/json.ts";
import type { DeclaredTable, RowChange, StateChange } from "./change.ts";
import { Shares } from "../support/shares.ts";
import { ownerOf } from "./owner.ts";

/** The amount of one call in a window. */
export interface Spent {
  readonly atMs: number;
  readonly amount: number;
  /** An entry of a running call does not leave the window. */
  isOpen: boolean;
  /** It is in the log. */
  isRecorded: boolean;
}

interface Window {
  /** As the last reader had it: an edit of a rule moves the end of its window. */
  windowMs: number;
  /** Oldest first. */
  readonly entries: Spent[];
}

/**
 * The amounts in sliding windows. A call adds its amount before it starts, so running calls count.
 * The log has the amount with the start of the call; a call that never starts leaves none. A change
 * of this table is one more entry of a window.
 */
export class SlidingWindows implements DeclaredTable {
  readonly name: string;
  readonly version = 1;
  readonly maxRows: number;
  readonly #windows = new Map<string, Window>();
  readonly #shares = new Shares();
  #nextSweepMs = 0;

  constructor(name: string, maxRows: number) {
    this.name = name;
    this.maxRows = maxRows;
  }

  get size(): number {
    return this.#windows.size;
  }

  /** The entries of the last `windowMs`. `undefined` without room for one more window of its caller. */
  entries(key: string, windowMs: number, nowMs: number): readonly Spent[] | undefined {
    const window = this.#windows.get(key);
    if (!window) {
      if (this.#isFullFor(key) && nowMs >= this.#nextSweepMs) {
        this.#nextSweepMs = nowMs + SWEEP_MS;
        this.expire(nowMs);
      }
      return this.#isFullFor(key) ? undefined : none;
    }
    window.windowMs = windowMs;
    expireIn(window, nowMs);
    return window.entries;
  }

  spend(key: string, windowMs: number, amount: number, nowMs: number): Spent {
    const spent: Spent = { atMs: nowMs, amount, isOpen: true, isRecorded: false };
    this.#add(key, windowMs, spent);
    return spent;
  }

  /** Its call never started. */
  takeBack(key: string, spent: Spent): void {
    const window = this.#windows.get(key);
    if (!window) return;
    const at = window.entries.indexOf(spent);
    if (at >= 0) window.entries.splice(at, 1);
    if (window.entries.length === 0) this.#forget(key);
  }

  /** For the event of its call's start. */
  changeOf(key: string, windowMs: number, spent: Spent): StateChange {
    return {
      change: [this.name, this.version, key, [windowMs, spent.atMs, spent.amount]],
      apply: () => void (spent.isRecorded = true),
    };
  }

  /** The number of entries of running calls. */
  get open(): number {
    let count = 0;
    for (const { entries } of this.#windows.values()) count += entries.filter(({ isOpen }) => isOpen).length;
    return count;
  }

  *rows(): Iterable<RowChange> {
    for (const [key, { windowMs, entries }] of this.#windows) {
      const recorded = entries.filter(({ isRecorded }) => isRecorded);
      const row = [windowMs, ...recorded.flatMap(({ atMs, amount }) => [atMs, amount])];
      if (recorded.length > 0) yield [this.name, this.version, key, row];
    }
  }

  take(key: string, row: JsonValue, version: number): number | undefined {
    if (version !== this.version || !isRow(row)) return undefined;
    const [windowMs = 0, ...rest] = row;
    let [atMs, latestMs] = [0, 0];
    for (const [i, each] of rest.entries()) {
      if (i % 2 === 0) latestMs = Math.max(latestMs, (atMs = each));
      else this.#add(key, windowMs, { atMs, amount: each, isOpen: false, isRecorded: true });
    }
    return latestMs;
  }

  expire(nowMs: number): void {
    for (const [key, window] of this.#windows) {
      expireIn(window, nowMs);
      if (window.entries.length === 0) this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#windows.delete(key);
    this.#shares.add(ownerOf(key), -1);
  }

  #isFullFor(key: string): boolean {
    return this.#shares.isFull(ownerOf(key), this.maxRows);
  }

  empty(): SlidingWindows {
    return new SlidingWindows(this.name, this.maxRows);
  }

  #add(key: string, windowMs: number, spent: Spent): void {
    const window = this.#windows.get(key) ?? { windowMs, entries: [] };
    window.windowMs = windowMs;
    const { entries } = window;
    // Calls start in another order than they came, by a little. The log has them in that order, so the sort includes amounts of one time.
    const at = entries.findLastIndex((each) => !isLater(each, spent)) + 1;
    if (at === entries.length) entries.push(spent);
    else entries.splice(at, 0, spent);
    if (!this.#windows.has(key)) this.#shares.add(ownerOf(key), 1);
    this.#windows.set(key, window);
  }
}

const none: readonly Spent[] = [];
/** A sweep reads every window. */
const SWEEP_MS = 1_000;

function isLater(one: Spent, other: Spent): boolean {
  return one.atMs > other.atMs || (one.atMs === other.atMs && one.amount > other.amount);
}

/** Looks at those alone that are old enough: a window can have a million. */
function expireIn({ windowMs, entries }: Window, nowMs: number): void {
  const sinceMs = nowMs - windowMs;
  const recent = entries.findIndex(({ atMs }) => atMs > sinceMs);
  const old = recent < 0 ? entries.length : recent;
  const open = entries.slice(0, old).filter(({ isOpen }) => isOpen);
  if (open.length < old) entries.splice(0, old, ...open);
}

/** The window in milliseconds, then time and amount of each entry. */
function isRow(row: JsonValue): row is readonly number[] {
  return (
    Array.isArray(row) &&
    row.length >= 3 &&
    row.length % 2 === 1 &&
    row.every((each) => typeof each === "number" && each >= 0)
  );
}

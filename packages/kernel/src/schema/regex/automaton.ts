import { spend } from "../budget.ts";
import { ACCEPTS, BOUNDARY, ENDS, INSIDE, type Program, programOf, SPLITS, STARTS } from "./program.ts";
import { NodeSet } from "./node-set.ts";

const FAIL = -1; // 0: not known yet
const MATCH = -2;

/**
 * The size of all automata of the process, in units of about eight bytes. Beyond it all automata drop their tables
 * and build them again, so no number of patterns takes more memory.
 */
const MAX_KEPT = 1_000_000;
/** The size of a state and of a character beside their tables. */
const UNITS_PER_STATE = 24;
const UNITS_PER_CHARACTER = 8;
const MAX_CACHED_CHARACTERS = 4_096;
const FEWEST_KINDS = 8;
const FEWEST_STATES = 8;

/** A transition that is made, */
const STEPS_PER_TRANSITION = 8;
/** and its nodes: they are looked up, sorted and kept. */
const STEPS_PER_NODE = 2;
/** Of a set that decides about a character, which the engine's matcher may have to do. */
const STEPS_PER_SET = 4;

let kept = 0;
const warm = /* @__PURE__ */ new Set<Automaton>();
const here = /* @__PURE__ */ new NodeSet();
const after = /* @__PURE__ */ new NodeSet();
const NO_BITS = /* @__PURE__ */ new Uint8Array();
const NONE = /* @__PURE__ */ new Int32Array();

/** The kinds of characters: two characters of one kind are in the same sets. */
class Kinds {
  /** By kind: in which sets its characters are. Kind 0 is the end of the text. */
  readonly sets: Uint8Array[];
  readonly numbers: Map<string, number> = new Map();
  readonly beyondAscii: Map<number, number> = new Map();

  constructor(count: number) {
    this.sets = [new Uint8Array(count)];
  }
}

/**
 * A matcher whose time is linear in the text, for every pattern: states of a deterministic automaton are made lazily.
 * Each transition that is made costs steps of the budget for each of its nodes.
 */
export class Automaton {
  /** By state and kind of the next character: a state, 0, FAIL or MATCH. A state is where its row begins. */
  #table: Int32Array = NONE;
  #begin = 0;
  #ascii: Uint16Array = new Uint16Array(0);
  #stride = FEWEST_KINDS;
  #program: Program | undefined;
  #kinds = new Kinds(0);
  /** The nodes of each state as the text of their numbers, then whether it is the start, then whether it is after a word. */
  #states: string[] = [];
  #numbers = new Map<string, number>();
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  /** Whether the pattern matches anywhere in a text. */
  matches(text: string): boolean {
    spend(8 + (text.length >> 4));
    if (this.#table === NONE) this.#prepare();
    let table = this.#table;
    let state = this.#begin;
    const ascii = this.#ascii;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      let kind = unit < 128 ? (ascii[unit] as number) : 0;
      if (kind === 0) {
        const codePoint = text.codePointAt(index) ?? 0;
        if (codePoint > 0xffff) index++;
        if ((index & 7) === 0) spend(1);
        kind = this.#kinds.beyondAscii.get(codePoint) ?? this.#classify(codePoint);
        if (kind === 0) return this.matches(text); // There are more kinds than the table has columns.
        table = this.#table;
      }
      let next = table[state + kind] as number;
      if (next <= 0) {
        if (next === 0) {
          next = this.#step(state, kind);
          table = this.#table;
        }
        if (next === FAIL) return false;
        if (next === MATCH) return true;
      }
      state = next;
    }
    return (table[state] || this.#step(state, 0)) === MATCH;
  }

  #prepare(): void {
    const program = this.#prepared;
    spend(program.wants.length + 16 * program.sets.length);
    this.#kinds = new Kinds(program.sets.length);
    this.#ascii = new Uint16Array(128);
    this.#stride = FEWEST_KINDS;
    warm.add(this);
    this.#keep(64 + 2 * program.wants.length + 16 * program.sets.length);
    this.#forgetStates();
  }

  get #prepared(): Program {
    return (this.#program ??= programOf(this.#source));
  }

  #keep(units: number): void {
    kept += units;
    if (kept <= MAX_KEPT) return;
    for (const each of warm) if (each !== this) each.#drop();
    warm.clear();
    warm.add(this);
    // Its memory beside the states has a bound of its own.
    kept = units;
    this.#table = NONE;
  }

  #drop(): void {
    this.#table = NONE;
    this.#program = undefined;
    this.#kinds = new Kinds(0);
    this.#states = [];
    this.#numbers = new Map();
  }

  #forgetStates(): void {
    this.#states = [""]; // No state is at 0.
    this.#numbers = new Map();
    this.#table = new Int32Array(this.#stride * FEWEST_STATES);
    const { start, wants } = this.#prepared;
    after.clear(wants.length);
    after.add(start);
    this.#begin = this.#stateOf(true, false);
  }

  /** The state of the nodes in `after`. */
  #stateOf(atStart: boolean, afterWord: boolean): number {
    const key = after.text() + (atStart ? "^" : "-") + (afterWord ? "w" : "-");
    let number = this.#numbers.get(key);
    if (number === undefined) {
      this.#keep(UNITS_PER_STATE + (key.length >> 1) + this.#stride);
      if (this.#table === NONE) this.#forgetStates();
      number = this.#states.push(key) - 1;
      this.#numbers.set(key, number);
      if ((number + 1) * this.#stride > this.#table.length) {
        const table = new Int32Array(this.#table.length * 2);
        table.set(this.#table);
        this.#table = table;
      }
    }
    return number * this.#stride;
  }

  /** The kind of a character; 0 when the states had to be forgotten. */
  #classify(codePoint: number): number {
    const { sets } = this.#prepared;
    const kinds = this.#kinds;
    const character = String.fromCodePoint(codePoint);
    spend(1 + STEPS_PER_SET * sets.length);
    const bits = Uint8Array.from(sets, (set) => (set.has(codePoint, character) ? 1 : 0));
    const key = String.fromCharCode(...bits);
    let kind = kinds.numbers.get(key);
    if (kind === undefined) {
      kind = kinds.sets.push(bits) - 1;
      kinds.numbers.set(key, kind);
      kept += 16 + (bits.length >> 1);
    }
    if (codePoint < 128) this.#ascii[codePoint] = kind;
    else {
      if (kinds.beyondAscii.size >= MAX_CACHED_CHARACTERS) kinds.beyondAscii.clear();
      kinds.beyondAscii.set(codePoint, kind);
      kept += UNITS_PER_CHARACTER;
    }
    if (kind < this.#stride) return kind;
    this.#stride *= 2;
    this.#forgetStates();
    return 0;
  }

  /** Looks at what is between two characters, then takes the next one. */
  #step(offset: number, kind: number): number {
    const { wants, firstTarget, targets, anchored, start, usesWords } = this.#prepared;
    const state = this.#states[offset / this.#stride] ?? "";
    const atStart = state.at(-2) === "^";
    const bits = this.#kinds.sets[kind] ?? NO_BITS;
    const isWord = usesWords && bits.at(-1) === 1;
    const edge = (state.at(-1) === "w") === isWord ? INSIDE : BOUNDARY;
    here.clear(wants.length);
    after.clear(wants.length);
    for (let index = 0; index < state.length - 2; index++) here.add(state.charCodeAt(index));
    let next = 0;
    // The set grows during the walk: nodes that follow without a character come after it.
    for (let index = 0; index < here.size && next === 0; index++) {
      const node = here.members[index] ?? 0;
      const want = wants[node] ?? 0;
      const holds =
        want >= 0
          ? bits[want] === 1
          : want === SPLITS || want === edge || (want === STARTS && atStart) || (want === ENDS && kind === 0);
      if (want === ACCEPTS) next = MATCH;
      const reached = want >= 0 ? after : here;
      const end = holds ? (firstTarget[node + 1] ?? 0) : 0;
      for (let target = firstTarget[node] ?? 0; target < end; target++) reached.add(targets[target] ?? 0);
    }
    spend(STEPS_PER_TRANSITION + STEPS_PER_NODE * (here.size + after.size));
    if (next === 0) {
      if (kind !== 0 && !anchored) after.add(start);
      next = kind === 0 || after.size === 0 ? FAIL : this.#stateOf(false, isWord);
    }
    // Unless all states were forgotten.
    if (this.#states[offset / this.#stride] === state) this.#table[offset + kind] = next;
    return next;
  }
}

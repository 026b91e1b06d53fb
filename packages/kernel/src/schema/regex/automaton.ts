import type { Budget } from "../context.ts";
import { type CharSet, membership, WORD } from "./charset.ts";
import { isAnchored, type Regex } from "./parse.ts";

/** A state of the nondeterministic automaton (Thompson's construction). */
type Node =
  | { readonly kind: "set"; readonly set: number; next: number }
  | { readonly kind: "split"; readonly to: number[] }
  | { readonly kind: "start" | "end" | "boundary" | "inside"; next: number }
  | { readonly kind: "accept" };

/** A state of the deterministic automaton, made when a text first leads there. */
interface State {
  /** Nodes that hold before what is between two characters has been looked at. */
  readonly nodes: readonly number[];
  readonly atStart: boolean;
  readonly afterWord: boolean;
  /** By class of the next character; the end of the text is class 0. */
  readonly next: (State | undefined)[];
}

const nowhere = (): State => ({ nodes: [], atStart: false, afterWord: false, next: [] });
/** Verdicts: the text matches whatever follows, or cannot match any more. */
const MATCH = nowhere();
const FAIL = nowhere();

/** Nodes kept in all states together; past that all states are forgotten and made anew. */
const MAX_STATE_NODES = 50_000;
const MAX_CACHED_CHARACTERS = 4_096;

/**
 * Matches in time linear in the text, whatever the pattern: deterministic states are made lazily and kept in a bounded
 * cache, and each that is made costs as many steps of the budget as it has nodes.
 */
export class Automaton {
  readonly #budget: Budget;
  readonly #nodes: Node[] = [];
  readonly #sets: ((codePoint: number) => boolean)[] = [];
  readonly #setNumbers = new Map<string, number>();
  readonly #start: number;
  readonly #anchored: boolean;
  readonly #isWord: (codePoint: number) => boolean = membership({ ranges: WORD, properties: [], negated: false });
  /** Members of each class of characters that the pattern does not tell apart: which sets, and whether a word character. */
  readonly #classes: { readonly sets: readonly boolean[]; readonly word: boolean }[] = [{ sets: [], word: false }];
  readonly #classNumbers = new Map<string, number>();
  readonly #ascii: Uint16Array = new Uint16Array(128);
  readonly #beyondAscii = new Map<number, number>();
  #states = new Map<string, State>();
  #stateNodes = 0;
  #first: State;

  constructor(regex: Regex, budget: Budget) {
    this.#budget = budget;
    this.#anchored = isAnchored(regex);
    this.#start = this.#build(regex, this.#add({ kind: "accept" }));
    for (let unit = 0; unit < 128; unit++) this.#ascii[unit] = this.#classify(unit);
    this.#first = this.#state([this.#start], true, false);
  }

  test(text: string): boolean {
    const ascii = this.#ascii;
    let state = this.#first;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      let kind: number;
      if (unit < 128) kind = ascii[unit] as number;
      else {
        const codePoint = text.codePointAt(index) as number;
        if (codePoint > 0xffff) index++;
        kind = this.#kindOf(codePoint);
      }
      const next = state.next[kind] ?? this.#step(state, kind);
      if (next === FAIL) return false;
      if (next === MATCH) return true;
      state = next;
    }
    return (state.next[0] ?? this.#step(state, 0)) === MATCH;
  }

  #add(node: Node): number {
    return this.#nodes.push(node) - 1;
  }

  /** Adds the nodes of an expression that goes on at `next`, and gives the first of them. */
  #build(regex: Regex, next: number): number {
    switch (regex.kind) {
      case "set":
        return this.#add({ kind: "set", set: this.#setNumber(regex.set), next });
      case "sequence":
        return regex.parts.reduceRight((to, part) => this.#build(part, to), next);
      case "choice":
        return this.#add({ kind: "split", to: regex.parts.map((part) => this.#build(part, next)) });
      case "repeat": {
        let to = next;
        if (regex.max === Infinity) {
          const loop: Node = { kind: "split", to: [next] };
          to = this.#add(loop);
          loop.to.push(this.#build(regex.body, to));
        } else for (let copy = regex.min; copy < regex.max; copy++) to = this.#add({ kind: "split", to: [next, this.#build(regex.body, to)] });
        for (let copy = 0; copy < regex.min; copy++) to = this.#build(regex.body, to);
        return to;
      }
      default:
        return this.#add({ kind: regex.kind, next });
    }
  }

  #setNumber(set: CharSet): number {
    const key = JSON.stringify(set);
    let number = this.#setNumbers.get(key);
    if (number === undefined) {
      number = this.#sets.push(membership(set)) - 1;
      this.#setNumbers.set(key, number);
    }
    return number;
  }

  #kindOf(codePoint: number): number {
    let kind = this.#beyondAscii.get(codePoint);
    if (kind === undefined) {
      kind = this.#classify(codePoint);
      if (this.#beyondAscii.size >= MAX_CACHED_CHARACTERS) this.#beyondAscii.clear();
      this.#beyondAscii.set(codePoint, kind);
    }
    return kind;
  }

  #classify(codePoint: number): number {
    const sets = this.#sets.map((contains) => contains(codePoint));
    const word = this.#isWord(codePoint);
    const key = `${sets.map(Number).join("")}${word ? "w" : ""}`;
    let kind = this.#classNumbers.get(key);
    if (kind === undefined) {
      kind = this.#classes.push({ sets, word }) - 1;
      this.#classNumbers.set(key, kind);
    }
    return kind;
  }

  #state(nodes: number[], atStart: boolean, afterWord: boolean): State {
    nodes.sort((a, b) => a - b);
    const key = `${nodes.join()}${atStart ? "s" : ""}${afterWord ? "w" : ""}`;
    let state = this.#states.get(key);
    if (state === undefined) {
      this.#stateNodes += nodes.length + 8;
      if (this.#stateNodes > MAX_STATE_NODES) {
        this.#stateNodes = 0;
        // The old states still point at each other, but nothing points at them once this text goes on.
        this.#states = new Map();
        if (this.#first !== undefined) this.#first = { ...this.#first, next: [] };
      }
      state = { nodes, atStart, afterWord, next: [] };
      this.#states.set(key, state);
    }
    return state;
  }

  /** Looks at what is between two characters, then takes the next one. */
  #step(state: State, kind: number): State {
    const { sets, word } = this.#classes[kind] as { sets: readonly boolean[]; word: boolean };
    const boundary = state.afterWord !== word;
    const seen = new Set<number>(state.nodes);
    const after = new Set<number>();
    let result: State | undefined;
    // The set grows while it is walked: what a node leads to without a character comes after it.
    for (const number of seen) {
      const node = this.#nodes[number] as Node;
      switch (node.kind) {
        case "accept":
          result = MATCH;
          break;
        case "set":
          if (sets[node.set] === true) after.add(node.next);
          break;
        case "split":
          for (const to of node.to) seen.add(to);
          break;
        case "start":
          if (state.atStart) seen.add(node.next);
          break;
        case "end":
          if (kind === 0) seen.add(node.next);
          break;
        default:
          if (boundary === (node.kind === "boundary")) seen.add(node.next);
      }
    }
    this.#budget.spend(seen.size + after.size);
    if (result === undefined && kind !== 0) {
      if (!this.#anchored) after.add(this.#start);
      if (after.size > 0) result = this.#state([...after], false, this.#needsWord && word);
    }
    return (state.next[kind] = result ?? FAIL);
  }

  get #needsWord(): boolean {
    return this.#nodes.some((node) => node.kind === "boundary" || node.kind === "inside");
  }
}

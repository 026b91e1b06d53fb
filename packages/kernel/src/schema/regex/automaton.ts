import { spend } from "../budget.ts";
import { ACCEPT, type Node, type Regex, SPLIT } from "./parse.ts";

/** A state of the deterministic automaton, made when a text first leads there. */
interface State {
  /** Nodes that hold before what is between two characters has been looked at. */
  readonly nodes: readonly number[];
  readonly atStart: boolean;
  readonly afterWord: boolean;
  /** By kind of the next character; the end of the text is kind 0. */
  readonly next: (State | undefined)[];
}

const newState = (nodes: readonly number[], atStart: boolean, afterWord: boolean): State => ({
  nodes,
  atStart,
  afterWord,
  next: [],
});
const MATCH = newState([], false, false);
const FAIL = newState([], false, false);

/** Nodes kept in all states together; past that all states are forgotten and made anew. */
const MAX_STATE_NODES = 50_000;
const MAX_CACHED_CHARACTERS = 4_096;
/** Of a transition that is made: its nodes are looked up, sorted and kept. */
const STEPS_PER_NODE = 2;

/** The set of word characters, which patterns that look at their boundaries have to know. */
const WORD = "[\\w]";

/**
 * A matcher whose time is linear in the text, whatever the pattern: deterministic states are made lazily and kept in a
 * bounded cache, and each transition that is made costs steps of the budget for each of its nodes.
 */
export function automaton(regex: Regex, nodes: Node[]): (text: string) => boolean {
  nodes.push({ what: ACCEPT, to: [] });
  const start = regex.build(0);

  // A kind of characters are those that the pattern does not tell apart: the sets that they are in.
  const sets = new Map<string, RegExp>();
  for (const { what } of nodes) {
    const set = /^\\b$/i.test(what) ? WORD : what;
    // The engine decides which characters are in a set: one character leaves nothing to backtrack.
    if (!/^(accept|[$^]|)$/.test(set)) sets.set(set, new RegExp(`^${set}$`, "u"));
  }
  const kinds: ReadonlySet<string>[] = [new Set()];
  const kindNumbers = new Map<string, number>();
  const ascii = new Uint16Array(128);
  const beyondAscii = new Map<number, number>();
  const classify = (codePoint: number): number => {
    const char = String.fromCodePoint(codePoint);
    spend(4 * sets.size);
    const kind = [...sets.keys()].filter((set) => sets.get(set)?.test(char));
    const key = JSON.stringify(kind);
    const number = kindNumbers.get(key) ?? kinds.push(new Set(kind)) - 1;
    kindNumbers.set(key, number);
    if (codePoint < 128) ascii[codePoint] = number;
    else {
      if (beyondAscii.size >= MAX_CACHED_CHARACTERS) beyondAscii.clear();
      beyondAscii.set(codePoint, number);
    }
    return number;
  };

  const first = newState([start], true, false);
  let begin = first;
  const states = new Map<string, State>();
  let stateNodes = 0;
  const stateOf = (numbers: readonly number[], afterWord: boolean): State => {
    const key = `${numbers.join()} ${afterWord}`;
    let state = states.get(key);
    if (state === undefined) {
      stateNodes += numbers.length + 8;
      if (stateNodes > MAX_STATE_NODES) {
        states.clear();
        stateNodes = 0;
        // The old states still lead to each other; once the text has left them nothing leads to them.
        begin = { ...first, next: [] };
      }
      states.set(key, (state = newState(numbers, false, afterWord)));
    }
    return state;
  };

  /** Looks at what is between two characters, then takes the next one. */
  const step = (state: State, number: number): State => {
    const kind = kinds[number] as ReadonlySet<string>;
    const isWord = kind.has(WORD);
    const between = [
      SPLIT,
      state.atStart ? "^" : "",
      number === 0 ? "$" : "",
      state.afterWord === isWord ? "\\B" : "\\b",
    ];
    const seen = new Set(state.nodes);
    const after = new Set<number>();
    let result: State | undefined;
    // The set grows while it is walked: what a node leads to without a character comes after it.
    for (const at of seen) {
      const { what, to } = nodes[at] as Node;
      if (what === ACCEPT) result = MATCH;
      const reached = kind.has(what) ? after : between.includes(what) ? seen : undefined;
      if (reached !== undefined) for (const node of to) reached.add(node);
    }
    spend(STEPS_PER_NODE * (seen.size + after.size));
    if (result === undefined && number !== 0) {
      if (!regex.anchored) after.add(start);
      if (after.size > 0)
        result = stateOf(
          [...after].sort((a, b) => a - b),
          isWord,
        );
    }
    return (state.next[number] = result ?? FAIL);
  };

  return (text) => {
    spend(8 + (text.length >> 4));
    let state = begin;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      let kind = ascii[unit] ?? 0;
      if (kind === 0) {
        const codePoint = text.codePointAt(index) as number;
        if (codePoint > 0xffff) index++;
        if ((index & 7) === 0) spend(1);
        kind = beyondAscii.get(codePoint) ?? classify(codePoint);
      }
      state = state.next[kind] ?? step(state, kind);
      if (state === FAIL) return false;
      if (state === MATCH) return true;
    }
    return (state.next[0] ?? step(state, 0)) === MATCH;
  };
}

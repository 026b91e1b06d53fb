import type { Budget } from "../context.ts";
import type { Regex } from "./parse.ts";

/** A state of the nondeterministic automaton (Thompson's construction): what it consumes or asks for, and where it goes on. */
interface Node {
  readonly kind: "set" | "split" | "accept" | "^" | "$" | "\\b" | "\\B";
  readonly set: number;
  readonly to: number[];
}

/** A state of the deterministic automaton, made when a text first leads there. */
interface State {
  /** Nodes that hold before what is between two characters has been looked at. */
  readonly nodes: readonly number[];
  readonly atStart: boolean;
  readonly afterWord: boolean;
  /** By kind of the next character; the end of the text is kind 0. */
  readonly next: (State | undefined)[];
}

/** Characters that a pattern does not tell apart: which of its sets they are in, and whether they are word characters. */
interface Kind {
  readonly sets: readonly boolean[];
  readonly word: boolean;
}

const verdict = (): State => ({ nodes: [], atStart: false, afterWord: false, next: [] });
const MATCH = verdict();
const FAIL = verdict();

/** Nodes kept in all states together; past that all states are forgotten and made anew. */
const MAX_STATE_NODES = 50_000;
const MAX_CACHED_CHARACTERS = 4_096;

/** Whether a character is in a set, which the engine itself decides: one character leaves nothing to backtrack. */
function membership(source: string): (char: string) => boolean {
  const pattern = new RegExp(`^${source}$`, "u");
  return (char) => pattern.test(char);
}

/**
 * A matcher whose time is linear in the text, whatever the pattern: deterministic states are made lazily and kept in a
 * bounded cache, and each transition that is made costs as many steps of the budget as it has nodes.
 */
export function automaton(regex: Regex, budget: Budget): (text: string) => boolean {
  const nodes: Node[] = [];
  const sets: string[] = [];
  const add = (kind: Node["kind"], to: number[], set = 0): number => nodes.push({ kind, to, set }) - 1;

  /** Adds the nodes of an expression that goes on at `next`, and gives the first of them. */
  const build = (part: Regex, next: number): number => {
    switch (part.kind) {
      case "set":
        if (!sets.includes(part.source)) sets.push(part.source);
        return add("set", [next], sets.indexOf(part.source));
      case "sequence":
        return part.parts.reduceRight((to, each) => build(each, to), next);
      case "choice":
        return part.parts.length === 1
          ? build(part.parts[0] as Regex, next)
          : add(
              "split",
              part.parts.map((each) => build(each, next)),
            );
      case "repeat": {
        let to = next;
        if (part.max === Infinity) {
          to = add("split", [next]);
          nodes[to]?.to.push(build(part.body, to));
        } else for (let copy = part.min; copy < part.max; copy++) to = add("split", [next, build(part.body, to)]);
        for (let copy = 0; copy < part.min; copy++) to = build(part.body, to);
        return to;
      }
      default:
        return add(part.kind, [next]);
    }
  };
  const start = build(regex, add("accept", []));
  const looksAtWords = nodes.some((node) => node.kind === "\\b" || node.kind === "\\B");

  const members = sets.map(membership);
  const kinds: Kind[] = [{ sets: [], word: false }];
  const kindNumbers = new Map<string, number>();
  const ascii = new Uint16Array(128);
  const beyondAscii = new Map<number, number>();
  const classify = (codePoint: number): number => {
    const char = String.fromCodePoint(codePoint);
    const kind = { sets: members.map((has) => has(char)), word: looksAtWords && /\w/.test(char) };
    const key = JSON.stringify(kind);
    let number = kindNumbers.get(key);
    if (number === undefined) kindNumbers.set(key, (number = kinds.push(kind) - 1));
    if (codePoint < 128) ascii[codePoint] = number;
    else {
      if (beyondAscii.size >= MAX_CACHED_CHARACTERS) beyondAscii.clear();
      beyondAscii.set(codePoint, number);
    }
    return number;
  };

  let states = new Map<string, State>();
  let stateNodes = 0;
  const newState = (numbers: number[], atStart: boolean, afterWord: boolean): State => {
    const key = `${numbers.sort((a, b) => a - b).join()} ${afterWord}`;
    const known = atStart ? undefined : states.get(key);
    if (known !== undefined) return known;
    stateNodes += numbers.length + 8;
    if (stateNodes > MAX_STATE_NODES) {
      states = new Map();
      stateNodes = 0;
      // The old states still lead to each other; once the text has left them nothing leads to them.
      first = { ...first, next: [] };
    }
    const state = { nodes: numbers, atStart, afterWord, next: [] };
    if (!atStart) states.set(key, state);
    return state;
  };
  let first: State = newState([start], true, false);

  /** Looks at what is between two characters, then takes the next one. */
  const step = (state: State, number: number): State => {
    const kind = kinds[number] as Kind;
    const between = {
      "^": state.atStart,
      $: number === 0,
      "\\b": state.afterWord !== kind.word,
      "\\B": state.afterWord === kind.word,
      split: true,
      set: false,
      accept: false,
    };
    const seen = new Set(state.nodes);
    const after = new Set<number>();
    let result: State | undefined;
    // The set grows while it is walked: what a node leads to without a character comes after it.
    for (const at of seen) {
      const node = nodes[at] as Node;
      if (node.kind === "accept") result = MATCH;
      else if (node.kind === "set" ? kind.sets[node.set] === true : between[node.kind])
        for (const to of node.to) (node.kind === "set" ? after : seen).add(to);
    }
    budget.spend(seen.size + after.size);
    if (result === undefined && number !== 0) {
      if (!regex.anchored) after.add(start);
      if (after.size > 0) result = newState([...after], false, kind.word);
    }
    return (state.next[number] = result ?? FAIL);
  };

  return (text) => {
    budget.spend(8 + (text.length >> 4));
    let state = first;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      let kind = ascii[unit] ?? 0;
      if (kind === 0) {
        const codePoint = text.codePointAt(index) as number;
        if (codePoint > 0xffff) index++;
        kind = beyondAscii.get(codePoint) ?? classify(codePoint);
      }
      state = state.next[kind] ?? step(state, kind);
      if (state === FAIL) return false;
      if (state === MATCH) return true;
    }
    return (state.next[0] ?? step(state, 0)) === MATCH;
  };
}

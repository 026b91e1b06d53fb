import { CharacterSet } from "./characters.ts";
import { ACCEPT, type Node, parse, type Regex, SPLIT } from "./parse.ts";

/** The label of a node that waits for no set of characters. */
export const ACCEPTS = -1;
export const SPLITS = -2;
export const STARTS = -3;
export const ENDS = -4;
export const BOUNDARY = -5;
export const INSIDE = -6;
const EDGES = [ACCEPT, SPLIT, "^", "$", "\\b", "\\B"];

/** A nondeterministic automaton in flat tables: an object for each of its nodes would take ten times as much. */
export interface Program {
  readonly start: number;
  readonly anchored: boolean;
  /** By node: the number of a set of characters, or one of the constants above. */
  readonly wants: Int16Array;
  /** The nodes after node `n`: `targets` from `firstTarget[n]` to `firstTarget[n + 1]`. */
  readonly firstTarget: Uint32Array;
  readonly targets: Uint16Array;
  readonly sets: readonly CharacterSet[];
  /** Whether the last one of `sets` is the word characters, because the pattern looks at their boundaries. */
  readonly usesWords: boolean;
}

/** Builds the automaton of a pattern that `parse` has accepted, of at most 65,000 states. */
export function programOf(source: string): Program {
  const regex = parse(source) as Regex;
  const nodes: Node[] = [{ what: ACCEPT, to: [] }];
  const start = regex.build(nodes, 0);
  const sets = new Map<string, number>();
  const wants = Int16Array.from(nodes, ({ what }) => {
    const edge = EDGES.indexOf(what);
    if (edge >= 0) return -1 - edge;
    if (!sets.has(what)) sets.set(what, sets.size);
    return sets.get(what) ?? 0;
  });
  const firstTarget = new Uint32Array(nodes.length + 1);
  nodes.forEach(({ to }, node) => (firstTarget[node + 1] = (firstTarget[node] ?? 0) + to.length));
  const targets = Uint16Array.from(nodes.flatMap(({ to }) => to));
  const usesWords = wants.some((want) => want === BOUNDARY || want === INSIDE);
  const names = [...sets.keys(), ...(usesWords ? ["\\w"] : [])];
  return {
    start,
    anchored: regex.anchored,
    wants,
    firstTarget,
    targets,
    sets: names.map((name) => new CharacterSet(name)),
    usesWords,
  };
}

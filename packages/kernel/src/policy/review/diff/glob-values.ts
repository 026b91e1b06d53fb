import { checkPath } from "../../../capability/matching/paths.ts";
import { foldLetters } from "../../../support/fold.ts";

/*
 * One path of each class that globs can tell apart, found by walking all globs at once. A glob takes part twice: as a grant reads it, and as a deny does. A path is a word
 * in which each segment ends in a slash.
 */

/** A set of globs beyond these bounds has a part of its paths. */
const mostStates = 4_000;
const mostPaths = 2_000;

export interface GlobPaths {
  readonly paths: readonly string[];
  /** Whether each class has its path. */
  readonly isWhole: boolean;
}

/** A place in a glob. */
interface Node {
  /** The letter that leads to the next place. */
  readonly letter?: string;
  /** Whether every letter of a segment stays here, or leads to the inside of a segment that `**` takes. */
  readonly any?: "stay" | "enter" | "inside";
  /** Whether the next place is reached without a letter. */
  readonly isOpen?: true;
  readonly isDeny: boolean;
  /** The glob that ends here. */
  readonly ends?: number;
}

const known = new Map<string, GlobPaths>();
const mostKnown = 200;

export function globPaths(globs: readonly string[]): GlobPaths {
  const key = JSON.stringify(globs);
  const found = known.get(key) ?? walk(globs);
  if (known.size >= mostKnown) known.clear();
  known.set(key, found);
  return found;
}

function nodesOf(globs: readonly string[]): { readonly nodes: readonly Node[]; readonly starts: readonly number[] } {
  const nodes: Node[] = [];
  const starts = globs.flatMap((glob, at) =>
    [false, true].map((isDeny) => {
      const start = nodes.length;
      for (const segment of (isDeny ? foldLetters(glob) : glob).split("/")) {
        if (segment === "**") nodes.push({ any: "enter", isOpen: true, isDeny }, { any: "inside", isDeny });
        else
          for (const letter of Array.from(`${segment}/`))
            nodes.push(letter === "*" ? { any: "stay", isOpen: true, isDeny } : { letter, isDeny });
      }
      nodes.push({ ends: 2 * at + Number(isDeny), isDeny });
      return start;
    }),
  );
  return { nodes, starts };
}

/** A letter, and the letters that a deny reads in it. */
interface Spelling {
  readonly letter: string;
  readonly folded: readonly string[];
}

/** The places that one letter leads to. */
function stepOf(nodes: readonly Node[], places: readonly number[], { letter, folded }: Spelling): readonly number[] {
  let denies: readonly number[] = places.filter((at) => nodes[at]?.isDeny);
  const grants = places.filter((at) => !nodes[at]?.isDeny);
  for (const each of folded) denies = [...lettered(nodes, denies, each)];
  return [...lettered(nodes, grants, letter), ...denies];
}

function lettered(nodes: readonly Node[], places: readonly number[], letter: string): ReadonlySet<number> {
  const next: number[] = [];
  for (const at of places) {
    const { any, letter: wanted } = nodes[at] ?? {};
    if (wanted === letter) next.push(at + 1);
    if (letter === "/") {
      if (any === "inside") next.push(at - 1);
    } else if (any !== undefined) next.push(any === "enter" ? at + 1 : at);
  }
  return opened(nodes, next);
}

function opened(nodes: readonly Node[], places: readonly number[]): ReadonlySet<number> {
  const all = new Set<number>();
  const open = [...places];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (all.has(at)) continue;
    all.add(at);
    const { isOpen, any } = nodes[at] ?? {};
    if (isOpen) open.push(any === "enter" ? at + 2 : at + 1);
  }
  return all;
}

/** A place that words lead to. */
interface State {
  readonly places: readonly number[];
  readonly word: string;
  readonly kind: Kind;
}

function walk(globs: readonly string[]): GlobPaths {
  const { nodes, starts } = nodesOf(globs);
  const spellings = new Spellings(globs);
  const states = new Map<string, State>();
  const byClass = new Map<string, string>();
  const add = (places: Iterable<number>, word: string): void => {
    const sorted = [...places].toSorted((a, b) => a - b);
    const kind = kindOf(word);
    const key = `${sorted.join()} ${kind}`;
    if (!states.has(key)) states.set(key, { places: sorted, word, kind });
  };
  add(opened(nodes, starts), "");
  // A map yields those that join it meanwhile, so shorter words come first.
  for (const { places, word, kind } of states.values()) {
    if (states.size > mostStates || byClass.size > mostPaths)
      return { paths: [...byClass.values(), ...globs.flatMap(nearOf)], isWhole: false };
    const ended = places.flatMap((at) => nodes[at]?.ends ?? []).join();
    if (kind === "whole" && !byClass.has(ended)) byClass.set(ended, word.slice(0, -1));
    for (const spelling of spellings.at(nodes, places))
      if (!spelling.folded.includes("/") || kind === "sound")
        add(stepOf(nodes, places, spelling), `${word}${spelling.letter}`);
  }
  return { paths: [...byClass.values()].filter((path) => checkPath(path) === undefined), isWhole: true };
}

/** `whole`: a path could end here. `sound`: a segment could. */
type Kind = "empty" | "whole" | "sound" | "unsound";

function kindOf(word: string): Kind {
  if (word === "") return "empty";
  if (word.endsWith("/")) return "whole";
  const segment = word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf(wideSlash)) + 1);
  return [segment, foldLetters(segment)].every((each) => checkPath(each) === undefined) ? "sound" : "unsound";
}

/** To what grants a letter of a name, and to what denies a slash. */
const wideSlash = "\uff0f";

class Spellings {
  readonly #fill: string;
  readonly #known = new Map<string, readonly Spelling[]>();
  readonly #ones = new Map<string, Spelling>();

  constructor(globs: readonly string[]) {
    this.#fill = fillFor(globs);
  }

  /** The letters that some place waits for, in every spelling that a deny takes for them, and one that none waits for. */
  at(nodes: readonly Node[], places: readonly number[]): readonly Spelling[] {
    const wanted = new Set(places.flatMap((at) => nodes[at]?.letter ?? []));
    wanted.delete("/");
    const letters = ["/", ...wanted, this.#fill];
    const all = [...letters.map((each) => this.#of(each)[0]!), ...[...wanted].flatMap((each) => this.#of(each))];
    return [...new Set([...all, this.#of(wideSlash)[0]!])];
  }

  /** A grant may want each of the first two, and a deny takes all of them. */
  #of(letter: string): readonly Spelling[] {
    const known = this.#known.get(letter) ?? othersOf(letter).map((each) => this.#one(each));
    this.#known.set(letter, known);
    return known;
  }

  #one(letter: string): Spelling {
    const known = this.#ones.get(letter) ?? { letter, folded: Array.from(foldLetters(letter)) };
    this.#ones.set(letter, known);
    return known;
  }
}

/** A letter, and two that a deny takes for it. */
function othersOf(letter: string): readonly string[] {
  const code = letter.charCodeAt(0);
  const wide = letter.length === 1 && code > 0x20 && code < 0x7f ? [String.fromCharCode(code + 0xfee0)] : [];
  const all = [letter.toLowerCase(), letter.toUpperCase(), ...wide, `${letter}\u00ad`];
  const others = all.filter((each) => each !== letter && foldLetters(each) === foldLetters(letter));
  return letter === "/" ? [letter] : [letter, ...others.slice(0, 2)];
}

/** Without a walk: paths that one glob covers, and their neighbours. */
function nearOf(glob: string): readonly string[] {
  const path = glob.replaceAll("*", "x");
  return [path, glob.replaceAll("**/", "").replaceAll("*", ""), `${path}/x`, `${path}x`, path.toUpperCase()].filter(
    (each) => checkPath(each) === undefined,
  );
}

function fillFor(globs: readonly string[]): string {
  const letters = foldLetters(globs.join(""));
  for (const fill of "xyzqvwkj0123456789") if (!letters.includes(fill)) return fill;
  for (let code = 0x4e00; ; code++) if (!letters.includes(String.fromCharCode(code))) return String.fromCharCode(code);
}

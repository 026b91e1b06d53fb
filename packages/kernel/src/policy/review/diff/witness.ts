import type { Policy } from "../../document/make.ts";
import { inOrder, type Dimension } from "./dimension.ts";
import { decideDraft, type Draft, levelOf } from "./draft.ts";
import { follow, type Fork, type Leaf, type Part } from "./graph.ts";
import type { Saying } from "./levels.ts";
import { distinctSayings, type OutcomeTable, type Pair } from "./outcomes.ts";
import { isSure, mentionedIn, nextDimension, type Prepared, stateOf } from "./prepared.ts";
import { goneOf, signatureOf } from "./step.ts";
import { costs, tooMany, type Work } from "./work.ts";

export interface HuntParts {
  readonly a: Policy;
  readonly b: Policy;
  /** Clauses of both policies. */
  readonly shared: readonly Prepared[];
  readonly table: OutcomeTable;
  readonly work: Work;
}

/** Values of one dimension that are looked at before one of them is followed. */
const chunk = 48;

/**
 * Finds calls of a leaf that nothing which both policies say hides.
 *
 * @param ways the parts that lead to the leaf
 * @throws {Spent}
 */
export function hunt(parts: HuntParts, root: Part, leaf: Leaf, ways: ReadonlySet<Part>): void {
  const isSeen = ({ clause: { role } }: Prepared): boolean =>
    leaf.draft.request !== undefined || role === "rule" || role === "floor";
  const own = new Hunt(parts, leaf, ways);
  // Most often nothing hides the call that led here.
  const { draft } = leaf;
  own.decide(draft);
  own.follow(root, draft, parts.shared.filter(isSeen), undefined);
}

interface Choice {
  readonly draft: Draft;
  readonly part: Part;
  readonly left: readonly Prepared[];
}

class Hunt {
  readonly #parts: HuntParts;
  readonly #leaf: Leaf;
  readonly #ways: ReadonlySet<Part>;
  /** The places that were searched, by part: they hold nothing more. */
  readonly #visited = new Map<Part, Set<string>>();

  constructor(parts: HuntParts, leaf: Leaf, ways: ReadonlySet<Part>) {
    this.#parts = parts;
    this.#leaf = leaf;
    this.#ways = ways;
  }

  follow(part: Part, draft: Draft, shared: readonly Prepared[], after: Dimension | undefined): void {
    const sure = distinctSayings(shared.flatMap((each) => (isSure(each, after) ? [each.clause] : [])));
    const open = shared.filter((each) => !isSure(each, after));
    if (!this.#isWanted(draft, sure, open)) return;
    const mine = part === this.#leaf ? undefined : (part as Fork);
    const theirs = nextDimension(open, after);
    const isMine = mine !== undefined && (theirs === undefined || inOrder(mine.dimension, theirs) <= 0);
    const next = isMine ? mine.dimension : theirs;
    if (!next) return this.decide(draft);
    if (this.#wasAt(part, next, draft, sure, shared, after)) return;
    this.#into(next, isMine ? mine : undefined, part, draft, shared, () => this.#isWanted(draft, sure, open));
  }

  #into(
    next: Dimension,
    fork: Fork | undefined,
    part: Part,
    draft: Draft,
    shared: readonly Prepared[],
    isWanted: () => boolean,
  ): void {
    const { found } = this.#leaf;
    const looking = shared.filter(({ atoms }) => atoms.has(next.name));
    const all = [...(fork?.looking ?? []), ...looking];
    const mentioned = mentionedIn(all, next);
    const before = found.size;
    const seen = new Map<Part, Set<string>>();
    for (const values of chunks(draft, () => next.drafts(draft, mentioned))) {
      if (!isWanted()) return;
      const choices = values.flatMap((each): readonly Choice[] => {
        this.#parts.work.take(next, all.length + costs.value);
        const to = fork ? follow(fork, each) : part;
        if (!to || !this.#ways.has(to)) return [];
        const gone = goneOf(next, looking, each);
        if (isKnown(seen, to, signatureOf(next, looking, gone, each))) return [];
        return [{ draft: each, part: to, left: gone.size === 0 ? shared : shared.filter((one) => !gone.has(one)) }];
      });
      for (const choice of choices.toSorted((x, y) => x.left.length - y.left.length))
        this.follow(choice.part, choice.draft, choice.left, next);
    }
    if (found.size === before && next.isWhole?.(mentioned) === false) this.#parts.work.cap(next.name, tooMany);
  }

  /** Marks a place. Another way to the same place finds nothing more. */
  #wasAt(
    part: Part,
    next: Dimension,
    draft: Draft,
    sure: readonly Saying[],
    shared: readonly Prepared[],
    after: Dimension | undefined,
  ): boolean {
    const { table, work } = this.#parts;
    work.take(next, 4 * shared.length + costs.place);
    const says = sure.map(({ role, level }) => `${role}${level}`).toSorted();
    const state = after === undefined ? "" : table.stateOf(draft, shared, after);
    return isKnown(this.#visited, part, `${next.name} ${says.join()} ${state} ${stateOf(shared, after, draft)}`);
  }

  /** Whether something may come of it that has not been found yet. */
  #isWanted(draft: Draft, sure: readonly Saying[], open: readonly Prepared[]): boolean {
    const { sides, found } = this.#leaf;
    const sayings = distinctSayings(open.map(({ clause }) => clause));
    return this.#parts.table.pairs(sides, sure, sayings, draft).some(([a, b]) => a !== b && !found.has(`${a}${b}`));
  }

  decide(draft: Draft): void {
    const { a, b, work } = this.#parts;
    const { found } = this.#leaf;
    work.add(costs.decision);
    const verdicts = [decideDraft(a, draft), decideDraft(b, draft)] as const;
    const levels: Pair = [levelOf(verdicts[0]), levelOf(verdicts[1])];
    const key = levels.join("");
    if (levels[0] !== levels[1] && !found.has(key)) found.set(key, { draft, levels, verdicts });
  }
}

/** The value that led to the leaf first: it is most often enough. */
function* chunks(first: Draft, others: () => readonly Draft[]): Iterable<readonly Draft[]> {
  yield [first];
  const values = others();
  for (let at = 0; at < values.length; at += chunk) yield values.slice(at, at + chunk);
}

/** Adds a mark, and says whether it was there. */
function isKnown(marks: Map<Part, Set<string>>, part: Part, mark: string): boolean {
  const known = marks.get(part) ?? new Set<string>();
  marks.set(part, known);
  if (known.has(mark)) return true;
  known.add(mark);
  return false;
}

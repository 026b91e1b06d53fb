import type { Policy } from "../../document/make.ts";
import { type Dimension, inOrder } from "./dimension.ts";
import { decideDraft, type Draft, levelOf } from "./draft.ts";
import type { CallVerdict } from "../../decision/decide-targets.ts";
import type { OutcomeTable, Pair } from "./outcomes.ts";
import { isSure, mentionedIn, nextDimension, type Prepared, survives } from "./prepared.ts";
import { isWithin, signatureOf, type Step } from "./step.ts";
import type { Work } from "./work.ts";

/** A call about which the policies answer differently: the kernel decided it twice. */
export interface Found {
  readonly draft: Draft;
  readonly levels: Pair;
  readonly verdicts: readonly [a: CallVerdict, b: CallVerdict];
}

interface Parts {
  readonly a: Policy;
  readonly b: Policy;
  readonly shared: readonly Prepared[];
  readonly table: OutcomeTable;
  readonly work: Work;
}

/** Values of one dimension that are looked at before one of them is followed. */
const chunk = 48;

/** Finds calls of a region that nothing which both policies say hides. */
export class Witnesses {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  find(draft: Draft, own: readonly Prepared[], after: Dimension, steps: readonly Step[]): readonly Found[] {
    const { shared } = this.#parts;
    const byName = new Map(steps.map((step) => [step.dimension.name, step]));
    const ordered = steps.map(({ dimension }) => dimension);
    const withRequest = byName.has("request");
    const visible = withRequest ? shared : shared.filter(({ clause: { role } }) => role === "rule" || role === "floor");
    const hunt = new Hunt(this.#parts, { own, after, steps: byName, ordered });
    hunt.follow(draft, visible, undefined);
    return [...hunt.found.values()];
  }
}

interface Hunted {
  /** Clauses that only one policy has. */
  readonly own: readonly Prepared[];
  /** The last dimension that is decided for them. */
  readonly after: Dimension;
  readonly steps: ReadonlyMap<string, Step>;
  readonly ordered: readonly Dimension[];
}

class Hunt {
  readonly found = new Map<string, Found>();
  readonly #parts: Parts;
  readonly #region: Hunted;

  constructor(parts: Parts, region: Hunted) {
    this.#parts = parts;
    this.#region = region;
  }

  follow(draft: Draft, shared: readonly Prepared[], after: Dimension | undefined): void {
    if (!this.#isWanted(draft, shared, after)) return;
    const mine = this.#region.ordered.find((each) => after === undefined || inOrder(each, after) > 0);
    const theirs = nextDimension(shared, after);
    const next = mine && theirs ? (inOrder(mine, theirs) < 0 ? mine : theirs) : (mine ?? theirs);
    if (!next) return this.#decide(draft);
    const step = this.#region.steps.get(next.name);
    const looking = shared.filter(({ atoms }) => atoms.has(next.name));
    const mentioned = mentionedIn([...(step?.clauses ?? []), ...looking], next);
    const found = this.found.size;
    const seen = new Set<string>();
    const values = next.drafts(draft, mentioned);
    for (let at = 0; at < values.length && this.#isWanted(draft, shared, after); at += chunk) {
      const choices = values
        .slice(at, at + chunk)
        .flatMap((each) => this.#choice(each, next, step, shared, looking, seen));
      for (const { draft: chosen, left } of choices.toSorted((x, y) => x.left.length - y.left.length))
        this.follow(chosen, left, next);
    }
    if (this.found.size === found && next.isWhole?.(mentioned) === false)
      this.#parts.work.cap(next.name, "The policies name more of it than the comparison has combined.");
  }

  #choice(
    draft: Draft,
    next: Dimension,
    step: Step | undefined,
    shared: readonly Prepared[],
    looking: readonly Prepared[],
    seen: Set<string>,
  ) {
    this.#parts.work.take(next, looking.length + 1);
    if (step && !isWithin(step, draft)) return [];
    const gone = new Set(looking.filter((each) => !survives(each, next, draft)));
    const key = signatureOf(next, looking, gone, draft);
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ draft, left: gone.size === 0 ? shared : shared.filter((each) => !gone.has(each)) }];
  }

  /** Whether something may come of it that has not been found yet. */
  #isWanted(draft: Draft, shared: readonly Prepared[], after: Dimension | undefined): boolean {
    const sure = shared.filter((each) => isSure(each, after)).map(({ clause }) => clause);
    const open = shared.filter((each) => !isSure(each, after)).map(({ clause }) => clause);
    const { own, after: decided } = this.#region;
    const pairs = this.#parts.table.pairs(own, sure, open, decided, draft);
    return pairs.some((pair) => pair[0] !== pair[1] && !this.found.has(pair));
  }

  #decide(draft: Draft): void {
    const { a, b, work } = this.#parts;
    work.decided();
    const verdicts = [decideDraft(a, draft), decideDraft(b, draft)] as const;
    const levels: Pair = [levelOf(verdicts[0]), levelOf(verdicts[1])];
    const key = levels.join("");
    if (levels[0] !== levels[1] && !this.found.has(key)) this.found.set(key, { draft, levels, verdicts });
  }
}

import type { RequestConditions } from "../../../capability/capability.ts";
import type { Face } from "../../../capability/matching/paths.ts";
import { canonicalJson } from "../../../json/canonical-json.ts";
import type { JsonValue } from "../../../json/json.ts";
import type { Truth } from "../../decision/arguments.ts";
import { compileCondition, holdsAll } from "../../decision/condition.ts";
import type { LoadedRule } from "../../decision/rule.ts";
import type { Policy } from "../../document/make.ts";
import type { ArgumentCondition, PolicyRule, RuleCondition } from "../../document/policy.ts";
import type { Atom } from "./atom.ts";
import {
  argumentDimension,
  countDimension,
  type Dimension,
  dimensions,
  inOrder,
  kindDimension,
  labelDimension,
} from "./dimension.ts";
import { counterOf, decisionInputOf, type Draft, inputOf, mildest } from "./draft.ts";
import type { Mentioned } from "./need-part.ts";
import { hasOwn } from "../../../support/guards.ts";

type Place = Pick<Atom, "dimension" | "mentioned" | "sorts">;

/** A rule as far as it is about calls. */
type CallRule = { readonly rule: Pick<PolicyRule, "effect" | "when"> } & Partial<Pick<LoadedRule, "count">>;

/** One atom for each condition, or one for each dimension of it: the last of them is the one that can say whether it holds. */
export function callAtoms(loaded: CallRule, policy: Policy): readonly Atom[] {
  const { effect, when } = loaded.rule;
  const isGrant = effect === "allow";
  const face = isGrant ? "grant" : "deny";
  const atoms: Atom[] = [];
  const add = (part: RuleCondition, places: readonly Place[]): void => {
    const truthOf = truthOfPart(part, face, policy);
    const holds = (draft: Draft): boolean => {
      const truth = truthOf(draft);
      return isGrant ? truth === true : truth !== false;
    };
    // A counter tells a condition that holds from one that errs.
    const withTruth =
      ({ sorts }: Place) =>
      (draft: Draft) =>
        `${sorts?.(draft) ?? ""} ${truthOf(draft)}`;
    const { dimension: last } = places.reduce((a, b) => (inOrder(a.dimension, b.dimension) < 0 ? b : a), places[0]!);
    for (const place of places) {
      const isLast = place.dimension === last;
      atoms.push({ ...place, ...(isLast && { holds }), ...(isLast && when.count && { sorts: withTruth(place) }) });
    }
  };
  for (const [name, value] of Object.entries(when) as [string, unknown][]) {
    if (name === "arguments")
      for (const condition of when.arguments ?? []) add({ arguments: [condition] }, [argumentPlace(condition)]);
    else if (name === "count") atoms.push(...countAtoms(loaded, policy));
    else {
      const places = placesOf.get(name)?.(value, policy) ?? [];
      if (places.length > 0) add({ [name]: value }, places);
    }
  }
  return atoms;
}

/** The answer of some conditions to a draft: those of one argument, or those of none. */
function truthOfPart(part: RuleCondition, face: Face, policy: Policy): (draft: Draft) => Truth {
  const tests = compileCondition(part, false, face);
  return (draft) => holdsAll(tests, decisionInputOf(draft, policy));
}

const argumentPlace = (condition: ArgumentCondition): Place => ({
  dimension: argumentDimension(condition.at),
  mentioned: { others: [condition] },
});

type Places = (value: unknown, policy: Policy) => readonly Place[];

/** The dimensions of each condition about calls. A new one does not compile without its row. */
const rows = {
  tool: named(dimensions.tool),
  version: named(dimensions.version),
  category: named(dimensions.category),
  tier: named(dimensions.tier),
  risk: named(dimensions.risk),
  mode: named(dimensions.mode),
  caller: named(dimensions.caller),
  session: named(dimensions.session),
  effects: (value) => textsIn(value).map(kindPlace),
  // A grant of a kind names a tool and a caller.
  capability: (value, policy) => {
    const grants = policy.document.grants ?? [];
    const tools = grants.flatMap(({ tool }) => (tool === "*" ? [] : [tool]));
    const callers = grants.flatMap(({ caller }) => caller ?? []);
    const grantedTo = ({ tool, caller }: Draft): string =>
      canonicalJson([...new Set(policy.grants(tool, caller).map(({ kind }) => kind))].toSorted());
    return [
      {
        dimension: dimensions.tool,
        mentioned: { texts: tools },
        sorts: (draft) => [mildest.caller, ...callers].map((caller) => grantedTo({ ...draft, caller })).join(),
      },
      { dimension: dimensions.caller, mentioned: { texts: callers }, sorts: grantedTo },
      {
        dimension: dimensions.request,
        mentioned: { texts: textsIn(value) },
        sorts: ({ request }) => (request && textsIn(value).includes(request.kind) ? request.kind : ""),
      },
      ...textsIn(value).map(kindPlace),
    ];
  },
  labels: (value) =>
    textsIn(value).map((label) => ({
      dimension: labelDimension(label),
      mentioned: {},
      sorts: ({ labels }) => `${label} ${labels.has(label)}`,
    })),
  time: (value) => [{ dimension: dimensions.time, mentioned: { others: [value] } }],
  arguments: (value) => (Array.isArray(value) ? value.map(argumentPlace) : []),
  count: () => [],
} satisfies Readonly<Record<Exclude<keyof RuleCondition, keyof RequestConditions>, Places>>;
const placesOf: ReadonlyMap<string, Places> = new Map(Object.entries<Places>(rows));

const kindPlace = (kind: string): Place => ({
  dimension: kindDimension(kind),
  mentioned: {},
  sorts: ({ kinds, request }) => `${kind} ${request?.kind === kind ? "declared" : kinds.get(kind)}`,
});

function named(dimension: Dimension): (value: unknown) => readonly Place[] {
  return (value) => [{ dimension, mentioned: { texts: textsIn(value) } }];
}

function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((each) => typeof each === "string");
}

/** A counter holds as the kernel's own does: it is not asked where another condition errs. */
function countAtoms({ rule: { effect, when }, count }: CallRule, policy: Policy): readonly Atom[] {
  if (!count) return [];
  const face = effect === "allow" ? "grant" : "deny";
  const { arguments: conditions = [], ...others } = when;
  const parts = [others, ...conditions.map((condition) => ({ arguments: [condition] }))];
  const truths = parts.map((part) => truthOfPart(part, face, policy));
  const { condition, read, holds } = count;
  const counter = counterOf(when);
  const limit = hasOwn(condition, "moreThan") ? condition.moreThan : condition.atMost;
  const mentioned: Partial<Mentioned> = { numbers: [limit] };
  const atom: Atom = {
    dimension: countDimension(counter, `calls in ${condition.windowMs} ms (${counter})`, condition.sum),
    mentioned,
    holds(draft) {
      const { input } = decisionInputOf(draft, policy);
      if (!truths.every((truthOf) => truthOf(draft) === true)) return effect !== "allow";
      const amount: JsonValue | undefined = read ? read(input) : 1;
      if (typeof amount !== "number" || amount < 0) return effect !== "allow";
      return holds(draft.counts.get(counter) ?? 0, amount);
    },
  };
  if (condition.sum === undefined) return [atom];
  const amountOf = (draft: Draft): string => canonicalJson(read?.(inputOf(draft)) ?? null);
  return [{ dimension: argumentDimension(condition.sum), mentioned, sorts: amountOf }, atom];
}

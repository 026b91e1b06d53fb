import type { Family, OwnNeed } from "../../../capability/family.ts";
import { isGoverned } from "../../../capability/family.ts";
import { areTexts } from "../../../capability/fields.ts";
import { canonicalJson } from "../../../json/canonical-json.ts";
import type { JsonValue } from "../../../json/json.ts";
import { holdsBack, letsThrough } from "../../../tool/modes.ts";
import { blake3Hash } from "../../../hash/blake3-hash.ts";
import { rateRule } from "../../decision/load-rules.ts";
import type { Policy } from "../../document/make.ts";
import type { GrantRule, ToolGovernance } from "../../document/policy.ts";
import { canShow, isAboutRequests } from "../../decision/rule.ts";
import type { Atom } from "./atom.ts";
import { callAtoms } from "./call-atoms.ts";
import type { Dimension } from "./dimension.ts";
import { dimensions, membersOf, needDimension } from "./dimension.ts";
import { decisionInputOf, type Draft, type Level } from "./draft.ts";
import type { Mentioned, NeedPart } from "./need-part.ts";
import { shapeOf } from "./needs.ts";

/**
 * A statement of a policy about the calls for which all of its atoms hold. `rule`: an effect.
 * `floor`: at least that strict, under all rules. `forbids`: the policy refuses the request. `grant`: the
 * request is granted. `mode`: as a floor, also where the policy only observes.
 */
export interface Clause {
  /** The same for two clauses that say the same of the same calls. */
  readonly key: string;
  readonly role: "rule" | "floor" | "forbids" | "grant" | "mode";
  readonly level: Level;
  readonly atoms: readonly Atom[];
}

export interface PolicyClauses {
  readonly clauses: readonly Clause[];
  /** Kinds of requests that the policy speaks of, and that cannot be taken apart. */
  readonly opaque: readonly string[];
}

/** A policy as clauses. A policy that only observes has its grants alone. */
export function clausesOf(policy: Policy): PolicyClauses {
  const { document, families } = policy;
  const opaque = new Set<string>();
  const grants = (document.grants ?? []).flatMap((grant) => grantClause(grant, policy, opaque));
  if (document.enforcement === "observe") return { clauses: grants, opaque: [...opaque] };
  const grantTable = canonicalJson(
    (document.grants ?? []).map(({ tool, caller = null, capability: { kind } }) => [tool, caller, kind]),
  );
  const asks: Level = document.approver === "passkey" ? 2 : 1;
  const levels = { allow: 0, ask: asks, deny: 3 } as const;
  const rules = policy.rules.flatMap((loaded): readonly Clause[] => {
    const { effect, when, approver } = loaded.rule;
    if (isAboutRequests(when, families))
      return [...families].flatMap((family) => requestClause(loaded.rule, family, policy, opaque));
    const level = effect === "ask" && approver === "passkey" ? 2 : levels[effect];
    const depends = when.capability ? grantTable : "";
    return [{ key: keyOf("rule", level, when, depends), role: "rule", level, atoms: callAtoms(loaded, policy) }];
  });
  const governed = Object.entries(document.tools ?? {}).flatMap(([tool, governance]) => [
    ...floors(tool, governance, asks, policy),
    ...lists(tool, governance, policy, opaque),
  ]);
  const entries = Object.entries(document.tools ?? {});
  const rates = entries
    .flatMap((entry) => rateRule(entry, families, blake3Hash))
    .map((loaded): Clause => ({
      key: keyOf("rule", 3, loaded.rule.when, ""),
      role: "rule",
      level: 3,
      atoms: callAtoms(loaded, policy),
    }));
  return { clauses: [...grants, ...rules, ...governed, ...rates], opaque: [...opaque] };
}

const keyOf = (...parts: readonly unknown[]): string => canonicalJson(parts as JsonValue[]);

const toolAtom = (tool: string): Atom => ({
  dimension: dimensions.tool,
  mentioned: { texts: [tool] },
  holds: (draft) => draft.tool === tool,
});

const requestAtom = (kind: string): Atom => ({
  dimension: dimensions.request,
  mentioned: { texts: [kind] },
  holds: ({ request }) => request?.kind === kind,
});

function floors(tool: string, { modes, sizes }: ToolGovernance, asks: Level, policy: Policy): readonly Clause[] {
  const floor = (level: Level, what: unknown, atom: Atom): Clause => ({
    key: keyOf("floor", level, tool, what),
    role: "floor",
    level,
    atoms: [toolAtom(tool), atom],
  });
  const { forbidden, allowed, approval } = modes ?? {};
  const inMode = (holds: (draft: Draft) => boolean): Atom => ({ dimension: dimensions.mode, mentioned: {}, holds });
  const limit = sizes?.inputBytes;
  return [
    ...(forbidden || allowed
      ? [
          floor(
            3,
            { forbidden: forbidden ?? null, allowed: allowed ?? null },
            inMode(({ mode }) => holdsBack(forbidden, mode) || !letsThrough(allowed, mode)),
          ),
        ]
      : []),
    ...(approval
      ? [
          floor(
            asks,
            { approval },
            inMode(({ mode }) => holdsBack(approval, mode)),
          ),
        ]
      : []),
    ...(limit === undefined
      ? []
      : [
          floor(
            3,
            { inputBytes: limit },
            {
              dimension: dimensions.inputBytes,
              mentioned: { numbers: [limit] },
              holds: (draft) => decisionInputOf(draft, policy).inputBytes > limit,
            },
          ),
        ]),
  ];
}

function lists(tool: string, governance: ToolGovernance, policy: Policy, opaque: Set<string>): readonly Clause[] {
  const { families } = policy;
  const members = new Map<string, unknown>(Object.entries(governance));
  const sizes = new Map<string, unknown>(Object.entries(governance.sizes ?? {}));
  const clause = (family: Family, what: unknown, atom: Atom): Clause => ({
    key: keyOf("forbids", tool, family.kind, what),
    role: "forbids",
    level: 3,
    atoms: [toolAtom(tool), requestAtom(family.kind), atom],
  });
  return [...families].flatMap((family) => {
    const byLists = [...family.conditions].flatMap(([name, { list }]) => {
      const governed = list && members.get(list.name);
      if (!list || !isGoverned(governed)) return [];
      const refused = list.refused(governed);
      const { allowed = [], forbidden = [] } = governed;
      const atom = conditionAtom(
        family,
        name,
        [...allowed, ...forbidden],
        (need) => refused(need) !== undefined,
        policy,
      );
      if (!atom) opaque.add(family.kind);
      return atom ? [clause(family, { [list.name]: { ...governed } }, atom)] : [];
    });
    const limit = family.sizeName === undefined ? undefined : sizes.get(family.sizeName);
    const place = placeOf(family.kind, ({ members: [first] }) => first === family.sizeName);
    if (typeof limit !== "number") return byLists;
    if (!place) opaque.add(family.kind);
    const tooLarge: Atom | undefined = place && {
      dimension: place.dimension,
      mentioned: { numbers: [limit] },
      holds: ({ request }) => request !== undefined && families.need(request).size > limit,
    };
    return [...byLists, ...(tooLarge ? [clause(family, { size: limit }, tooLarge)] : [])];
  });
}

/** The part of requests of one kind that something looks at. */
function placeOf(
  kind: string,
  isMeant: (part: NeedPart) => boolean,
): { readonly part: NeedPart; readonly dimension: Dimension } | undefined {
  const entries = Object.entries(shapeOf(kind)?.parts ?? {});
  const [name, part] = entries.find(([, each]) => isMeant(each)) ?? [];
  return name === undefined || part === undefined ? undefined : { part, dimension: needDimension(kind, name, part) };
}

function conditionAtom(
  { kind }: Family,
  condition: string,
  texts: readonly string[],
  test: (need: OwnNeed) => boolean,
  { families }: Policy,
): Atom | undefined {
  const place = placeOf(kind, (part) => part.condition === condition);
  return (
    place && {
      dimension: place.dimension,
      mentioned: { texts },
      holds: ({ request }) => request !== undefined && test(families.need(request)),
    }
  );
}

/** The clause of a rule about requests, for one kind. */
function requestClause(
  { when }: Policy["rules"][number]["rule"],
  family: Family,
  policy: Policy,
  opaque: Set<string>,
): readonly Clause[] {
  const { families } = policy;
  if (!canShow(family, when, families)) return [];
  const atoms: Atom[] = [];
  const ofCall = new Map<string, unknown>(Object.entries(when));
  for (const [name, condition] of family.conditions) {
    const patterns = ofCall.get(name);
    ofCall.delete(name);
    if (!areTexts(patterns)) continue;
    const atom = conditionAtom(family, name, patterns, condition.touches(patterns), policy);
    if (atom) atoms.push(atom);
    else opaque.add(family.kind);
  }
  for (const name of ["capability", ...families.conditions.keys()]) ofCall.delete(name);
  const others = callAtoms({ rule: { effect: "deny", when: Object.fromEntries(ofCall) } }, policy);
  return [
    {
      key: keyOf("forbids", family.kind, when),
      role: "forbids",
      level: 3,
      atoms: [...others, requestAtom(family.kind), ...atoms],
    },
  ];
}

function grantClause(
  { tool, caller, capability }: GrantRule,
  { families }: Policy,
  opaque: Set<string>,
): readonly Clause[] {
  const shape = shapeOf(capability.kind);
  if (!shape) {
    opaque.add(capability.kind);
    return [];
  }
  const given = new Map<string, unknown>(Object.entries(capability));
  const parts = Object.entries(shape.parts).map(([name, part]): Atom => {
    const own = Object.fromEntries(
      part.members.flatMap((member) => (given.has(member) ? [[member, given.get(member)] as const] : [])),
    );
    const [loaded] = families.known([{ ...shape.capability, ...own }]);
    const dimension = needDimension(capability.kind, name, part);
    const members = membersOf(part);
    return {
      dimension,
      mentioned: mentionedIn(Object.values(own)),
      holds({ request }) {
        if (!request || !loaded) return false;
        const value = Object.fromEntries(Object.entries(request).filter(([name]) => members.includes(name)));
        return loaded.covers(families.need({ ...shape.need, ...value, kind: capability.kind }), "authority");
      },
    };
  });
  const access = Object.values(shape.parts).flatMap(({ members }) =>
    members.map((member) => [member, given.get(member) ?? null]),
  );
  const ofTool = tool === "*" ? [] : [toolAtom(tool)];
  const ofCaller: readonly Atom[] =
    caller === undefined
      ? []
      : [{ dimension: dimensions.caller, mentioned: { texts: [caller] }, holds: (draft) => draft.caller === caller }];
  return [
    {
      key: keyOf("grant", tool, caller ?? null, capability.kind, access),
      role: "grant",
      level: 0,
      atoms: [...ofTool, ...ofCaller, requestAtom(capability.kind), ...parts],
    },
  ];
}

function mentionedIn(values: readonly unknown[]): Partial<Mentioned> {
  const flat = values.flat();
  return {
    texts: flat.filter((each) => typeof each === "string"),
    numbers: flat.filter((each) => typeof each === "number"),
    others: flat.filter((each) => typeof each === "object"),
  };
}

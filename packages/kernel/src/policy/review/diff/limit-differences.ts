import { areTexts } from "../../../capability/fields.ts";
import { canonicalJson } from "../../../json/canonical-json.ts";
import type { JsonValue } from "../../../json/json.ts";
import type { Policy } from "../../document/make.ts";
import { shapeOf } from "./needs.ts";

/** Something that holds of calls which run under both policies. */
export interface LimitDifference {
  readonly sentence: string;
  readonly tool: string | null;
  readonly a: JsonValue;
  readonly b: JsonValue;
}

/** The differences in limits, kept values and approvers. */
export function limitDifferences(a: Policy, b: Policy): readonly LimitDifference[] {
  const tools = (policy: Policy): readonly string[] => Object.keys(policy.document.tools ?? {});
  const labelled = (policy: Policy): readonly string[] =>
    Object.values(policy.document.labels ?? {}).flatMap(({ tools: named = [] }) => named);
  return [
    ...differences(null, "The approvers", a, b, ({ document }) => document.approvers ?? null),
    ...differences(null, "The passkeys", a, b, ({ document }) => document.passkeys ?? null),
    ...[...new Set([...tools(a), ...tools(b)])].flatMap((tool) => [
      ...differences(tool, `The bounds of ${tool}`, a, b, (policy) => policy.governance(tool)?.bounds ?? null),
      ...differences(tool, `The kept values of ${tool}`, a, b, (policy) => policy.governance(tool)?.keep ?? null),
      ...differences(tool, `The sizes of ${tool}`, a, b, (policy) => policy.governance(tool)?.sizes ?? null),
    ]),
    ...[...new Set([...labelled(a), ...labelled(b)])].flatMap((tool) =>
      differences(tool, `The labels of ${tool}`, a, b, (policy) => [...policy.labelsOf(tool)]),
    ),
    ...budgetDifferences(a, b),
  ];
}

type Grant = NonNullable<Policy["document"]["grants"]>[number];

/** The accesses of a grant, apart from the budgets for them. */
interface Place {
  readonly grant: Grant;
  /** For people. */
  readonly name: string;
  readonly access: ReadonlyMap<string, unknown>;
  readonly budgets: JsonValue[];
}

/** Budgets of grants for the same accesses; and those of a grant that one policy has beside grants of the other. */
function budgetDifferences(a: Policy, b: Policy): readonly LimitDifference[] {
  const [ofA, ofB] = [placesOf(a), placesOf(b)];
  return [...new Map([...ofA, ...ofB])].flatMap(([key, place]) => {
    const [inA, inB] = [ofA.get(key), ofB.get(key)];
    if (![inA, inB].some((each) => each && isBudgeted(each))) return [];
    const others = inA && inB ? [place] : [...(inA ? ofB : ofA).values()];
    if (!others.some((each) => mayMeet(each, place))) return [];
    const shownOf = (each: Place | undefined): JsonValue => each?.budgets ?? null;
    return differ(place.grant.tool, `The limits of ${place.name}`, shownOf(inA), shownOf(inB));
  });
}

/** Kinds with a grant in one policy alone that has no budget, and may add to one that has. */
export function openBudgets(a: Policy, b: Policy): readonly string[] {
  const [ofA, ofB] = [placesOf(a), placesOf(b)];
  const budgeted = [...ofA.values(), ...ofB.values()].filter(isBudgeted);
  const kinds = [...new Map([...ofA, ...ofB])].flatMap(([key, place]) => {
    if ((ofA.has(key) && ofB.has(key)) || isBudgeted(place)) return [];
    return budgeted.some((each) => mayMeet(each, place)) ? [place.grant.capability.kind] : [];
  });
  return [...new Set(kinds)];
}

const isBudgeted = ({ budgets }: Place): boolean => budgets.some((each) => canonicalJson(each) !== "{}");

function placesOf({ document: { grants = [] } }: Policy): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const grant of grants) {
    const { tool, caller, capability } = grant;
    const own = Object.values(shapeOf(capability.kind)?.parts ?? {}).flatMap(({ members }) => members);
    const members = Object.entries(capability).filter(([name]) => name !== "kind");
    const access = members
      .filter(([name]) => own.includes(name))
      .map(([name, value]: [string, unknown]) => [name, sorted(value)] as const);
    // Members of a document are JSON.
    const text = canonicalJson(Object.fromEntries(access) as JsonValue);
    const budget = Object.fromEntries(members.filter(([name]) => !own.includes(name))) as JsonValue;
    const name = `${capability.kind} for ${tool}${caller === undefined ? "" : ` and ${caller}`} (${shown(text)})`;
    const key = canonicalJson([capability.kind, tool, caller ?? null, text]);
    const known = places.get(key) ?? { grant, name, access: new Map(access), budgets: [] };
    places.set(key, known);
    known.budgets.push(budget);
    known.budgets.sort((x, y) => (canonicalJson(x) < canonicalJson(y) ? -1 : 1));
  }
  return places;
}

const sorted = (value: unknown): unknown =>
  Array.isArray(value) && value.every((each) => typeof each === "string") ? [...new Set(value)].toSorted() : value;

/** Members in which two names without a wildcard are two things. */
const plainMembers = ["hosts", "databases", "names", "tools"];

/** Whether one request could be of both grants, as far as their form tells. */
function mayMeet(one: Place, other: Place): boolean {
  const [x, y] = [one.grant, other.grant];
  if (x.capability.kind !== y.capability.kind) return false;
  if (x.tool !== y.tool && x.tool !== "*" && y.tool !== "*") return false;
  if (x.caller !== undefined && y.caller !== undefined && x.caller !== y.caller) return false;
  return plainMembers.every((name) => {
    const [ofOne, ofOther] = [one.access.get(name), other.access.get(name)];
    if (!areTexts(ofOne) || !areTexts(ofOther)) return true;
    if ([...ofOne, ...ofOther].some((each) => each.includes("*"))) return true;
    const folded = new Set(ofOne.map((each) => each.toLowerCase()));
    return ofOther.some((each) => folded.has(each.toLowerCase()));
  });
}

function differences(
  tool: string | null,
  what: string,
  a: Policy,
  b: Policy,
  read: (policy: Policy) => unknown,
): readonly LimitDifference[] {
  // Parts of a document are JSON.
  return differ(tool, what, read(a) as JsonValue, read(b) as JsonValue);
}

function differ(tool: string | null, what: string, a: JsonValue, b: JsonValue): readonly LimitDifference[] {
  const [textA, textB] = [canonicalJson(a), canonicalJson(b)];
  if (textA === textB) return [];
  return [{ sentence: `${what}: B has ${shown(textB)}; A has ${shown(textA)}.`, tool, a, b }];
}

const shown = (text: string): string =>
  text === "null" ? "none" : text.length > 200 ? `${text.slice(0, 200)}…` : text;

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

/** Budgets of grants, where both policies grant the kind. */
function budgetDifferences(a: Policy, b: Policy): readonly LimitDifference[] {
  const [ofA, ofB] = [budgetsOf(a), budgetsOf(b)];
  return [...ofA].flatMap(([place, { tool, limits }]) => {
    const other = ofB.get(place);
    if (!other) return [];
    return differ(tool, `The limits of ${place}`, limits.toSorted(), other.limits.toSorted());
  });
}

function budgetsOf({
  document: { grants = [] },
}: Policy): ReadonlyMap<string, { readonly tool: string; readonly limits: string[] }> {
  const places = new Map<string, { readonly tool: string; readonly limits: string[] }>();
  for (const { tool, caller, capability } of grants) {
    const place = `${capability.kind} for ${tool}${caller === undefined ? "" : ` and ${caller}`}`;
    const own = Object.values(shapeOf(capability.kind)?.parts ?? {}).flatMap(({ members }) => members);
    const budget = Object.entries(capability).filter(([name]) => name !== "kind" && !own.includes(name));
    const known = places.get(place) ?? { tool, limits: [] };
    places.set(place, known);
    known.limits.push(canonicalJson(Object.fromEntries(budget)));
  }
  return places;
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

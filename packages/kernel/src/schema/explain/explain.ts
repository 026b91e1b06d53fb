import { spend } from "../budget.ts";
import { hasKeywords, type Keywords } from "../context.ts";
import { SUBSCHEMAS } from "../dialect.ts";
import { has, isCompound, isObject } from "../equal.ts";
import { tuple } from "../keywords/arrays.ts";
import { evaluated } from "../keywords/unevaluated.ts";
import type { Check } from "../types.ts";
import { escapeToken } from "../../json/pointer.ts";
import { explainedParts, type Part } from "../walk.ts";
import { explainBranches } from "./branches.ts";
import { choices, expected, formatHint, quote } from "./describe.ts";
import type { ErrorList } from "./error-list.ts";
import { didYouMean, missingHint, repair, unknownHint } from "./hints.ts";
import { containsFault, uniqueFault } from "./items.ts";
import { knownNames, Spot } from "./spot.ts";

/** Keywords whose failure is that of the parts they apply to, each of which explains itself. */
const isApplicator = (keyword: string): boolean =>
  SUBSCHEMAS.has(keyword) && !/^(contains|anyOf|oneOf|not)$/.test(keyword);

const namesIn = (names: unknown): readonly string[] =>
  Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];

/**
 * Says why a value does not conform: adds to the errors of the spot. Runs only after a check has failed, so that it may
 * be slow where that makes the message better: the validator checks each keyword again by itself.
 */
export function explainSpot(spot: Spot): void {
  const { context, errors, from, value } = spot;
  if (errors.isFull) return;
  spend(1);
  if (from.schema === false) return spot.add("", "nothing: the schema refuses every value");
  if (!hasKeywords(from) || context.check(from)(value)) return;
  const place = context.locate(from);
  const applied = explainedParts(place, value, context);
  const before = errors.reported;
  for (const keyword of Object.keys(place.schema))
    if (!keyword.startsWith("unevaluated")) explainKeyword(spot, place, keyword, applied);
  // Only a value that conforms to the rest has known unevaluated parts.
  if (errors.reported > before || !isCompound(value)) return;
  const seen = evaluated(place, value, context, /^unevaluated/);
  for (const part of applied)
    if (part.keyword.startsWith("unevaluated") && !seen.has(part.token ?? "")) descend(spot, place, part, errors);
}

function explainKeyword(spot: Spot, place: Keywords, keyword: string, applied: readonly Part[]): void {
  const { errors, value, object } = spot;
  const wanted = place.schema[keyword];
  const alone = checkAlone(spot, place, keyword);
  if (alone?.(value) === true) return;
  if (Array.isArray(value) && wanted === false && keyword.endsWith("tems")) return explainTooMany(spot, place, keyword);
  const before = errors.reported;
  const parts = applied.filter((part) => part.keyword === keyword);
  if (keyword === "anyOf" || keyword === "oneOf")
    explainBranches(spot, keyword, parts, (branch, to) => descend(spot, place, branch, to));
  else if (keyword === "required") explainMissing(spot, place, wanted, keyword);
  else if (keyword.startsWith("depend")) {
    for (const [name, names] of isObject(wanted) ? Object.entries(wanted) : [])
      if (has(object, name)) explainMissing(spot, place, names, `${keyword}/${escapeToken(name)}`);
  }
  if (!/^(contains|anyOf|oneOf|if)/.test(keyword)) for (const part of parts) descend(spot, place, part, errors);
  // No part has said it better.
  if (errors.reported > before || alone === undefined) return;
  if (keyword === "contains") containsFault(spot, place);
  else if (keyword === "uniqueItems") uniqueFault(spot);
  else spot.add(keyword, expected(keyword, wanted), hintFor(spot, place, keyword, alone));
}

/** The check of a keyword by itself; undefined for those whose parts explain themselves. */
function checkAlone({ context }: Spot, place: Keywords, keyword: string): Check | undefined {
  if (isApplicator(keyword)) return undefined;
  // Not by assignment, which would take a keyword __proto__ for the prototype.
  const siblings = keyword === "contains" ? [keyword, "minContains", "maxContains"] : [keyword];
  const schema = Object.fromEntries(siblings.map((name) => [name, place.schema[name]]));
  return context.checkAlone({ ...place, schema });
}

/** Items where there may be none: one error for all of them. */
function explainTooMany(spot: Spot, place: Keywords, keyword: string): void {
  const { prefix, rest } = tuple(place);
  const { length } = spot.items;
  if (length <= prefix.length || !rest.path.endsWith(`/${keyword}`)) return;
  const most = prefix.length === 1 ? "1 item" : `${prefix.length} items`;
  spot.add(keyword, `an array of at most ${most}`);
}

function explainMissing(spot: Spot, place: Keywords, names: unknown, step: string): void {
  const { object } = spot;
  const known = knownNames(place);
  const others = Object.keys(object).filter((name) => !known.includes(name));
  for (const name of namesIn(names))
    if (!has(object, name)) spot.add(step, `the property ${quote(name)}`, missingHint(name, object, others, place));
}

function descend(spot: Spot, place: Keywords, part: Part, to: ErrorList): void {
  if (to.isFull) return;
  const { keyword, step, place: sub, value, token } = part;
  // A name is no part of the value: the error is about the object that has it.
  const isMember = token !== undefined && keyword !== "propertyNames";
  // The value of a misspelt name may be a secret.
  if (isMember && typeof token === "string" && sub.schema === false) {
    const hint = unknownHint(token, spot.object, knownNames(place), place);
    return spot.add(step, `no property ${quote(token)}`, hint, "an object that has it");
  }
  const path = isMember ? `${spot.instance}/${escapeToken(String(token))}` : spot.instance;
  const mayMiss =
    token === undefined
      ? spot.optional
      : typeof token === "string" && !namesIn(place.schema["required"]).includes(token);
  explainSpot(new Spot(sub, value, path, `${spot.walked}/${step}`, to, mayMiss, spot.secrets, spot.context));
}

function hintFor(spot: Spot, place: Keywords, keyword: string, alone: Check): string | undefined {
  const { context, value } = spot;
  const wanted = place.schema[keyword];
  if (!spot.hidden) {
    if (value === null && spot.optional) return "Leave it out.";
    const isText = /^(pattern|format)$/.test(keyword);
    if (isText || /^(type|enum|const)$/.test(keyword)) {
      const fits = (ok: Check) => repair(value, (meant) => ok(meant) && (!isText || typeof meant === "string"));
      const hint = fits(context.check(spot.from)) ?? fits(alone);
      if (hint !== undefined) return hint;
      const { required } = place.schema;
      if (keyword === "type" && Array.isArray(required) && !isObject(value))
        return `It must have ${choices(required, "and")}.`;
    }
    if (keyword === "enum" && Array.isArray(wanted)) return didYouMean(value, wanted, `Use ${choices(wanted)}.`);
  }
  return keyword === "format" ? formatHint(wanted) : undefined;
}

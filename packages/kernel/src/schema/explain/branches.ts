import { at, hasKeywords, type Place } from "../context.ts";
import { has, isObject } from "../equal.ts";
import { behindRefs, discriminator } from "../keywords/logic.ts";
import { escapeToken } from "../../json/pointer.ts";
import type { Part } from "../walk.ts";
import { choices, listed, quote, received } from "./describe.ts";
import { ErrorList } from "./error-list.ts";
import { didYouMean, repair } from "./hints.ts";
import type { Spot } from "./spot.ts";

/** Explains one of the branches of a spot. */
export type Descend = (branch: Part, to: ErrorList) => void;

/** `anyOf` or `oneOf`: of the branches that were tried, the one that was meant. */
export function explainBranches(spot: Spot, keyword: string, tried: readonly Part[], descend: Descend): void {
  const { context, value, instance } = spot;
  const fitting = tried.flatMap((part, index) => (context.check(part.place)(value) ? [index] : []));
  if (fitting.length > 1) {
    const hint = `It conforms to branches ${fitting.join(" and ")}; make it fit only one.`;
    return spot.add(keyword, "a value that conforms to exactly one branch", hint);
  }
  const places = tried.map((part) => part.place);
  const picked = isObject(value) ? discriminator(places, context) : undefined;
  if (picked === undefined) return explainClosest(spot, keyword, tried, descend);
  const { key, byTag } = picked;
  const object = spot.object;
  const isThere = has(object, key);
  const tag = isThere ? object[key] : undefined;
  const meant = tried[byTag.get(tag) ?? -1];
  if (meant !== undefined) return descend(meant, spot.errors);
  const allowed = choices([...byTag.keys()]);
  const path = `${instance}/${escapeToken(key)}`;
  const wanted = `${quote(key)} to be one of ${allowed}`;
  const hint = didYouMean(tag, byTag.keys(), `Set ${quote(key)} to ${allowed}.`);
  if (!isThere) spot.add(keyword, wanted, hint);
  else spot.add(keyword, wanted, hint, received(tag, spot.hidden || spot.isSecret(path)), path);
}

/** One error for the keyword, then those of the branch that was most likely meant. */
function explainClosest(spot: Spot, keyword: string, tried: readonly Part[], descend: Descend): void {
  const { context, errors } = spot;
  const found = tried.map((part) => {
    const own = new ErrorList(errors.limit);
    descend(part, own);
    const type = own.errors.find((each) => each.instancePath === spot.instance && each.keyword === "type")?.expected;
    return { part, own: own.errors, type, score: scoreOf(spot, part.place, own, type !== undefined) };
  });
  const possible = found.filter(({ score }) => score < Infinity);
  const types = new Set(possible.map(({ type }) => type));
  if (!types.has(undefined) && types.size > 0) {
    const hint = spot.hidden ? undefined : repair(spot.value, context.check(spot.from));
    return spot.add(keyword, listed([...types].filter((type) => type !== undefined)), hint);
  }
  const best = found.reduce((least, each) => (each.score < least.score ? each : least));
  const { schema: title } = at(best.part.place, "title");
  const name = typeof title === "string" ? ` (${quote(title)})` : "";
  const wanted = `a value that conforms to ${keyword === "oneOf" ? "exactly" : "at least"} one of ${tried.length} branches`;
  spot.add(keyword, wanted, `Closest is branch ${found.indexOf(best)}${name}; its errors follow.`);
  for (const error of best.own) errors.push(error);
}

/**
 * The distance of a value from a branch. A branch for another type is unlikely, and a branch that
 * no value matches is impossible. A branch with all its required properties is likelier than one
 * with fewer errors.
 */
function scoreOf({ context, value, errors }: Spot, place: Place, own: ErrorList, isOtherType: boolean): number {
  if (context.isNever(place)) return Infinity;
  const branch = behindRefs(place, context);
  const required: unknown = hasKeywords(branch) ? branch.schema["required"] : undefined;
  const isMeant =
    isObject(value) &&
    Array.isArray(required) &&
    required.length > 0 &&
    required.every((name) => has(value, String(name)));
  return own.errors.length + (isOtherType ? errors.limit : 0) - (isMeant ? errors.limit : 0);
}

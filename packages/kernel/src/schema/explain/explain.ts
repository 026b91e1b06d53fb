import { spend } from "../budget.ts";
import { at, type Context, hasKeywords, type Place } from "../context.ts";
import { SUBSCHEMAS } from "../dialect.ts";
import { isCompound, isObject } from "../equal.ts";
import { discriminator } from "../keywords/logic.ts";
import { evaluated } from "../keywords/unevaluated.ts";
import type { Check, JsonObject, ValidationError } from "../types.ts";
import { NEVER } from "../unit.ts";
import { escapeToken } from "../uri.ts";
import { explainedParts, type Part } from "../walk.ts";
import { choices, expected, formatHint, listed, quote, received } from "./describe.ts";
import { failure } from "../failure.ts";
import { didYouMean, missingHint, repair, unknownHint } from "./hints.ts";
import { isSecret } from "./secrets.ts";

/** Keywords whose failure is that of the parts they apply to, each of which explains itself. */
const isApplicator = (keyword: string): boolean =>
  SUBSCHEMAS.has(keyword) && !/^(contains|anyOf|oneOf|not)$/.test(keyword);

/**
 * Says why a value does not conform: adds to `errors`. Runs only after a check has failed, so that it may be slow where
 * that makes the message better: each keyword is checked again by itself. `instance` is where it has come in the value,
 * `walked` in the schema; `optional` says that the value may be missing.
 */
export function explainPart(
  from: Place,
  value: unknown,
  instance: string,
  walked: string,
  errors: ValidationError[],
  optional: boolean,
  secrets: ReadonlySet<string>,
  context: Context,
): void {
  const { limits, check } = context;
  if (errors.length >= limits.errors) return;
  spend(1);
  const hidden = isSecret(instance, secrets);

  const add = (
    step: string,
    wanted: string,
    hint?: string,
    what: string = received(value, hidden),
    path: string = instance,
    keyword: string = step.split("/", 1)[0] || "false",
  ): void => {
    const tail = step && `/${step}`;
    if (errors.length < limits.errors)
      errors.push(failure(path, walked + tail, from.path + tail, keyword, wanted, what, hint));
  };

  if (from.schema === false) return add("", "nothing: the schema refuses every value");
  if (!hasKeywords(from) || check(from)(value)) return;
  const place = context.locate(from);
  const { schema } = place;
  const applied = explainedParts(place, value, context);
  const object = isObject(value) ? value : {};
  const known = Object.keys(at(place, "properties").schema ?? {});

  const descend = ({ keyword, step, place: sub, value: part, token }: Part, to = errors): void => {
    if (to.length >= limits.errors) return;
    // A name is no part of the value: the error is about the object that has it.
    const isMember = token !== undefined && keyword !== "propertyNames";
    const path = isMember ? `${instance}/${escapeToken(String(token))}` : instance;
    // The value of a misspelt name may be a secret.
    if (isMember && typeof token === "string" && sub.schema === false)
      add(step, `no property ${quote(token)}`, unknownHint(token, object, known, place), "an object that has it");
    else {
      const mayMiss =
        token === undefined ? optional : typeof token === "string" && !needed(schema["required"]).includes(token);
      explainPart(sub, part, path, `${walked}/${step}`, to, mayMiss, secrets, context);
    }
  };

  const needed = (names: unknown): readonly string[] => (Array.isArray(names) ? (names as string[]) : []);

  const missing = (names: unknown, step: string): void => {
    const others = Object.keys(object).filter((name) => !known.includes(name));
    for (const name of needed(names))
      if (!Object.hasOwn(object, name))
        add(step, `the property ${quote(name)}`, missingHint(name, object, others, place));
  };

  const branches = (keyword: string): void => {
    const tried = applied.filter((part) => part.keyword === keyword);
    const fitting = tried.flatMap((part, index) => (check(part.place)(value) ? [index] : []));
    if (fitting.length > 1) {
      return add(
        keyword,
        "a value that conforms to exactly one branch",
        `It conforms to branches ${fitting.join(" and ")}; make it fit only one.`,
      );
    }
    const picked = isObject(value)
      ? discriminator(
          tried.map((part) => part.place),
          context,
        )
      : undefined;
    if (picked === undefined) return closest(tried, keyword);
    const { key, byTag } = picked;
    const has = Object.hasOwn(object, key);
    const tag = has ? object[key] : undefined;
    const index = byTag.get(tag);
    if (index !== undefined) return descend(tried[index] as Part);
    const allowed = choices([...byTag.keys()]);
    const path = `${instance}/${escapeToken(key)}`;
    const wanted = `${quote(key)} to be one of ${allowed}`;
    const hint = didYouMean(tag, byTag.keys(), `Set ${quote(key)} to ${allowed}.`);
    if (!has) add(keyword, wanted, hint);
    else add(keyword, wanted, hint, received(tag, hidden || secrets.has(path)), path);
  };

  /** One error for the keyword, then those of the branch that was most likely meant. */
  const closest = (tried: readonly Part[], keyword: string): void => {
    const found = tried.map((part) => {
      const own: ValidationError[] = [];
      descend(part, own);
      // A branch for another type was hardly meant, and one that nothing conforms to not at all.
      const type = own.find((error) => error.instancePath === instance && error.keyword === "type")?.expected;
      const impossible = check(part.place) === NEVER.check;
      const score = own.length + (type === undefined ? 0 : limits.errors) + (impossible ? Infinity : 0);
      return { part, own, type, score };
    });
    const possible = found.filter(({ score }) => score < Infinity);
    const types = new Set(possible.map(({ type }) => type));
    const wanted = `a value that conforms to ${keyword === "oneOf" ? "exactly" : "at least"} one of ${tried.length} branches`;
    if (!types.has(undefined) && types.size > 0)
      return add(keyword, listed([...types] as string[]), hidden ? undefined : repair(value, check(from)));
    const best = found.reduce((least, each) => (each.score < least.score ? each : least));
    const { schema: title } = at(best.part.place, "title");
    const name = typeof title === "string" ? ` (${quote(title)})` : "";
    add(keyword, wanted, `Closest is branch ${found.indexOf(best)}${name}; its errors follow.`);
    for (const error of best.own) if (errors.length < limits.errors) errors.push(error);
  };

  const hintFor = (keyword: string, wanted: unknown, alone: Check): string | undefined => {
    if (!hidden) {
      if (value === null && optional) return "Leave it out.";
      const isText = /^(pattern|format)$/.test(keyword);
      if (isText || /^(type|enum|const)$/.test(keyword)) {
        const fits = (ok: Check) => repair(value, (meant) => ok(meant) && (!isText || typeof meant === "string"));
        const hint = fits(check(from)) ?? fits(alone);
        if (hint !== undefined) return hint;
        if (keyword === "type" && Array.isArray(schema["required"]) && !isObject(value))
          return `It must have ${choices(schema["required"], "and")}.`;
      }
      if (keyword === "enum") return didYouMean(value, wanted as unknown[], `Use ${choices(wanted as unknown[])}.`);
    }
    return keyword === "format" ? formatHint(wanted) : undefined;
  };

  const before = errors.length;
  for (const keyword of Object.keys(schema)) {
    if (keyword.startsWith("unevaluated")) continue;
    const wanted = schema[keyword];
    const count = errors.length;
    // Not by assignment, which would take a keyword __proto__ for the prototype.
    const siblings = keyword === "contains" ? [keyword, "minContains", "maxContains"] : [keyword];
    const alone = Object.fromEntries(siblings.map((name) => [name, schema[name]]));
    const own = isApplicator(keyword) ? NEVER.check : context.inPlace({ ...place, schema: alone }).check;
    if (own(value)) continue;
    if (keyword === "anyOf" || keyword === "oneOf") branches(keyword);
    else if (keyword === "required") missing(wanted, keyword);
    else if (keyword.startsWith("depend")) {
      for (const [name, names] of Object.entries(wanted as JsonObject))
        if (Object.hasOwn(object, name)) missing(names, `${keyword}/${escapeToken(name)}`);
    }
    for (const part of applied)
      if (part.keyword === keyword && !/^(contains|anyOf|oneOf|if)/.test(keyword)) descend(part);
    // No part has said it better.
    if (errors.length === count && !isApplicator(keyword))
      add(keyword, expected(keyword, wanted), hintFor(keyword, wanted, own));
  }
  // What is unevaluated is only known of a value that conforms to the rest.
  if (errors.length > before || !isCompound(value)) return;
  const seen = evaluated(place, value, context, /^unevaluated/);
  for (const part of applied) if (part.keyword.startsWith("unevaluated") && !seen.has(part.token ?? "")) descend(part);
}

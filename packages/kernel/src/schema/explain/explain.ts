import { at, type Context, type Place } from "../context.ts";
import { discriminator } from "../keywords/logic.ts";
import { evaluated } from "../keywords/unevaluated.ts";
import { SUBSCHEMAS } from "../dialect.ts";
import { isObject } from "../resources.ts";
import type { JsonObject, ValidationError } from "../types.ts";
import { escapeToken } from "../uri.ts";
import { type Part, parts } from "../walk.ts";
import { choices, expected, formatHint, nearest, or, quote, received } from "./describe.ts";

/** Keywords whose failure is that of the parts they apply to, each of which explains itself. */
const isApplicator = (keyword: string): boolean =>
  SUBSCHEMAS.has(keyword) && !/^(contains|anyOf|oneOf|not)$/.test(keyword);

/** Where the explanation has come: in the value, in the schema as it was walked, and in its document. */
export interface Spot {
  readonly instance: string;
  readonly schema: string;
  readonly location: string;
}

/** The names that a schema has properties for. */
const propertiesOf = (schema: JsonObject): string[] =>
  Object.keys(isObject(schema["properties"]) ? schema["properties"] : {});

export function failure(
  { instance, schema, location }: Spot,
  step: string,
  keyword: string,
  wanted: string,
  got: string,
  hint?: string,
): ValidationError {
  return {
    instancePath: instance,
    schemaPath: schema + step,
    schemaLocation: (location.includes("#") ? location : `#${location}`) + step,
    keyword,
    expected: wanted,
    received: got,
    message: `${instance === "" ? "The value" : instance}: expected ${wanted}, got ${got}.`,
    ...(hint === undefined ? {} : { hint }),
  };
}

/**
 * Says why a value does not conform: adds to `errors`. Runs only after a check has failed, so that it may be slow where
 * that makes the message better: each keyword is checked again by itself.
 */
export function explainer(
  context: Context,
  secrets: ReadonlySet<string>,
  errors: ValidationError[],
): (schema: unknown, place: Place, value: unknown, spot: Spot) => void {
  const { limits } = context.budget;

  const isHidden = (instance: string): boolean =>
    [...secrets].some((path) => instance === path || instance.startsWith(`${path}/`));

  const push = (error: ValidationError, to: ValidationError[]): void => {
    if (to.length < limits.errors) to.push(error);
  };

  const explain = (schema: unknown, from: Place, value: unknown, spot: Spot, out: ValidationError[] = errors): void => {
    if (!isObject(schema) || out.length >= limits.errors) return;
    context.budget.spend(1);
    const place = context.locate(schema, from);
    if (context.check(schema, place)(value)) return;

    const applied = parts(schema, place, value, context);

    const add = (
      step: string,
      wanted: string,
      hint?: string,
      got: unknown = value,
      keyword: string = step,
      instance: string = spot.instance,
    ): void =>
      push(failure({ ...spot, instance }, `/${step}`, keyword, wanted, received(got, isHidden(instance)), hint), out);

    const forbid = (keyword: string, step: string, token: string, instance: string): void => {
      const known = propertiesOf(schema);
      const near = nearest(token, known);
      const hint =
        near !== undefined
          ? `Did you mean ${near}?`
          : known.length > 0
            ? `Known properties are ${choices(known)}.`
            : undefined;
      // The value of a misspelt name may be a secret.
      push(
        failure(
          { ...spot, instance },
          `/${step}`,
          keyword,
          `no property ${quote(token)}`,
          "an object that has it",
          hint,
        ),
        out,
      );
    };

    const descend = ({ keyword, step, schema: sub, place: where, value: part, token }: Part, to = out): void => {
      // A name is no part of the value: the error is about the object that has it.
      const instance =
        token === undefined || keyword === "propertyNames"
          ? spot.instance
          : `${spot.instance}/${escapeToken(String(token))}`;
      if (sub !== false)
        explain(sub, where, part, { instance, schema: `${spot.schema}/${step}`, location: where.path }, to);
      else if (typeof token === "string" && keyword !== "propertyNames") forbid(keyword, step, token, instance);
      else add(step, "nothing here", undefined, part, keyword, instance);
    };

    const missing = (needed: unknown, step: string, keyword: string): void => {
      const known = propertiesOf(schema);
      const others = Object.keys(value as JsonObject).filter((name) => !known.includes(name));
      for (const name of needed as string[]) {
        if (Object.hasOwn(value as JsonObject, name)) continue;
        const near = nearest(name, others);
        add(
          step,
          `the property ${quote(name)}`,
          near === undefined ? `Add ${quote(name)}.` : `Rename ${near} to ${quote(name)}.`,
          value,
          keyword,
        );
      }
    };

    const branches = (keyword: string): void => {
      const tried = applied.filter((part) => part.keyword === keyword);
      const fitting = tried.flatMap((part, index) => (context.check(part.schema, part.place)(value) ? [index] : []));
      if (fitting.length > 1) {
        return add(
          keyword,
          "a value that conforms to exactly one branch",
          `It conforms to branches ${fitting.join(" and ")}; make it fit only one.`,
        );
      }
      const picked = isObject(value)
        ? discriminator(schema[keyword] as unknown[], at(place, keyword), context)
        : undefined;
      if (picked === undefined) return closest(tried, keyword);
      const { key, byTag } = picked;
      const has = Object.hasOwn(value as JsonObject, key);
      const tag = has ? (value as JsonObject)[key] : undefined;
      const index = byTag.get(tag);
      if (index !== undefined) return descend(tried[index] as Part);
      const allowed = choices([...byTag.keys()]);
      const near = nearest(tag, byTag.keys());
      const instance = has ? `${spot.instance}/${escapeToken(key)}` : spot.instance;
      add(
        keyword,
        `${quote(key)} to be one of ${allowed}`,
        near === undefined ? `Set ${quote(key)} to ${allowed}.` : `Did you mean ${near}?`,
        has ? tag : value,
        keyword,
        instance,
      );
    };

    /** One error for the keyword, then those of the branch that was most likely meant. */
    const closest = (tried: readonly Part[], keyword: string): void => {
      const found = tried.map((part) => {
        const own: ValidationError[] = [];
        descend(part, own);
        // A branch for another type was hardly meant.
        const type = own.find((error) => error.instancePath === spot.instance && error.keyword === "type")?.expected;
        return { part, own, type, score: own.length + (type === undefined ? 0 : limits.errors) };
      });
      const types = found.flatMap(({ type }) => type ?? []);
      if (types.length === tried.length) return add(keyword, or([...new Set(types)]));
      const best = found.reduce((least, each) => (each.score < least.score ? each : least));
      const title =
        isObject(best.part.schema) && typeof best.part.schema["title"] === "string"
          ? ` (${quote(best.part.schema["title"])})`
          : "";
      const wanted = `a value that conforms to ${keyword === "oneOf" ? "exactly" : "at least"} one of ${tried.length} branches`;
      add(keyword, wanted, `Closest is branch ${found.indexOf(best)}${title}; its errors follow.`);
      for (const error of best.own) push(error, out);
    };

    const hintFor = (keyword: string, wanted: unknown): string | undefined => {
      if (keyword === "format") return formatHint(wanted);
      if (isHidden(spot.instance)) return undefined;
      if (keyword === "enum") {
        const near = nearest(value, wanted as unknown[]);
        return near === undefined ? `Use ${choices(wanted as unknown[])}.` : `Did you mean ${near}?`;
      }
      if (keyword !== "type" || typeof value !== "string") return undefined;
      if (/number|integer/.test(String(wanted)) && value.trim() !== "" && Number.isFinite(Number(value)))
        return "Leave out the quotation marks.";
      return /object|array/.test(String(wanted)) && /^\s*[[{]/.test(value)
        ? "Pass the value itself, not JSON text in a string."
        : undefined;
    };

    const before = out.length;
    const onlyRef = place.resource.dialect.year === 7 && schema["$ref"] !== undefined;
    for (const keyword of onlyRef ? ["$ref"] : Object.keys(schema)) {
      if (keyword.startsWith("unevaluated")) continue;
      const wanted = schema[keyword];
      const known = out.length;
      if (!isApplicator(keyword)) {
        // Not by assignment, which would take a keyword __proto__ for the prototype.
        const siblings = keyword === "contains" ? [keyword, "minContains", "maxContains"] : [keyword];
        const alone = Object.fromEntries(siblings.map((name) => [name, schema[name]]));
        if (context.inPlace(alone, place).check(value)) continue;
      }
      if (keyword === "anyOf" || keyword === "oneOf") branches(keyword);
      else if (keyword === "required") missing(wanted, keyword, keyword);
      else if (keyword.startsWith("depend") && isObject(value)) {
        for (const [name, needed] of Object.entries(wanted as JsonObject))
          if (Array.isArray(needed) && Object.hasOwn(value, name))
            missing(needed, `${keyword}/${escapeToken(name)}`, keyword);
      }
      for (const part of applied)
        if (part.keyword === keyword && !/^(contains|anyOf|oneOf|if)/.test(part.step)) descend(part);
      // No part has said it better.
      if (out.length === known && !isApplicator(keyword))
        add(keyword, expected(keyword, wanted), hintFor(keyword, wanted));
    }
    // What is unevaluated is only known of a value that conforms to the rest.
    if (out.length > before || typeof value !== "object" || value === null) return;
    const seen = new Set<string | number>();
    evaluated(schema, place, value, seen, context, /^unevaluated/);
    for (const part of applied)
      if (part.keyword.startsWith("unevaluated") && !seen.has(part.token ?? "")) descend(part);
  };
  return explain;
}

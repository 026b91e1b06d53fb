import { at, type Context, type Place } from "../context.ts";
import { discriminator } from "../keywords/logic.ts";
import { evaluated } from "../keywords/unevaluated.ts";
import { isObject } from "../resources.ts";
import type { JsonObject, ValidationError } from "../types.ts";
import { escapeToken } from "../uri.ts";
import { choices, expected, formatHint, nearest, or, quote, received } from "./describe.ts";
import { type Part, parts } from "../walk.ts";

/** Siblings without which a keyword means something else. */
const NEEDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["additionalProperties", ["properties", "patternProperties"]],
  ["additionalItems", ["items"]],
  ["items", ["prefixItems"]],
  ["contains", ["minContains", "maxContains"]],
  ["if", ["then", "else"]],
]);

/** Keywords whose errors are those of their parts. */
const DESCENDS: ReadonlySet<string> = new Set([
  "$ref", "$dynamicRef", "allOf", "if", "properties", "patternProperties", "additionalProperties", "propertyNames",
  "dependentSchemas", "items", "prefixItems", "additionalItems",
]);

/** Where the explanation has come: in the value, in the schema as it was walked, and in its document. */
export interface Spot {
  readonly instance: string;
  readonly schema: string;
  readonly location: string;
}

/**
 * Says why a value does not conform. Runs only after a check has failed, so that it may be slow where it makes the
 * message better: each keyword is checked again by itself.
 */
export class Explainer {
  readonly #context: Context;
  readonly #secrets: ReadonlySet<string>;
  #errors: ValidationError[] = [];

  constructor(context: Context, secrets: ReadonlySet<string>) {
    this.#context = context;
    this.#secrets = secrets;
  }

  get errors(): readonly ValidationError[] {
    return this.#errors;
  }

  explain(schema: unknown, from: Place, value: unknown, spot: Spot): void {
    const { budget } = this.#context;
    if (!isObject(schema) || this.#errors.length >= budget.limits.errors) return;
    budget.spend(1);
    const place = this.#context.locate(schema, from);
    if (this.#context.check(schema, place)(value)) return;
    const before = this.#errors.length;
    const onlyRef = place.resource.dialect.year === 7 && schema["$ref"] !== undefined;
    for (const keyword of onlyRef ? ["$ref"] : Object.keys(schema)) {
      if (keyword.startsWith("unevaluated") || this.#passes(schema, keyword, place, value)) continue;
      this.#keyword(schema, keyword, place, value, spot);
    }
    // What is unevaluated is only known of a value that conforms to the rest.
    if (this.#errors.length === before) this.#unevaluated(schema, place, value, spot);
  }

  #passes(schema: JsonObject, keyword: string, place: Place, value: unknown): boolean {
    const alone: Record<string, unknown> = { [keyword]: schema[keyword] };
    for (const sibling of NEEDS.get(keyword) ?? []) if (Object.hasOwn(schema, sibling)) alone[sibling] = schema[sibling];
    return this.#context.inPlace(alone, place).check(value);
  }

  #keyword(schema: JsonObject, keyword: string, place: Place, value: unknown, spot: Spot): void {
    if (keyword === "anyOf" || keyword === "oneOf") return this.#branches(schema, keyword, place, value, spot);
    if (keyword === "required") return this.#missing(schema["required"] as string[], value as JsonObject, schema, "required", spot);
    if (keyword === "dependentRequired" || keyword === "dependencies") {
      for (const [name, needs] of Object.entries(schema[keyword] as JsonObject)) {
        if (Object.hasOwn(value as JsonObject, name) && Array.isArray(needs)) {
          this.#missing(needs, value as JsonObject, schema, `${keyword}/${escapeToken(name)}`, spot);
        }
      }
    }
    if (DESCENDS.has(keyword) || keyword === "dependencies") {
      for (const part of parts(schema, place, value, this.#context)) if (part.keyword === keyword && part.step !== "if") this.#descend(part, schema, spot);
      return;
    }
    if (keyword === "dependentRequired") return;
    const wanted = schema[keyword];
    this.#add(spot, keyword, expected(keyword, wanted), value, this.#hint(keyword, wanted, value, spot));
  }

  #hint(keyword: string, wanted: unknown, value: unknown, spot: Spot): string | undefined {
    if (keyword === "format") return formatHint(wanted);
    if (this.#isHidden(spot.instance)) return undefined;
    if (keyword === "enum") {
      const near = nearest(value, wanted as unknown[]);
      return near === undefined ? `Use ${choices(wanted as unknown[])}.` : `Did you mean ${quote(near)}?`;
    }
    if (keyword !== "type" || typeof value !== "string") return undefined;
    const types = Array.isArray(wanted) ? wanted : [wanted];
    if (value.trim() !== "" && Number.isFinite(Number(value)) && (types.includes("number") || types.includes("integer"))) return "Leave out the quotation marks.";
    if (/^\s*[[{]/.test(value) && (types.includes("object") || types.includes("array"))) return "Pass the value itself, not JSON text in a string.";
    return undefined;
  }

  #descend(part: Part, parent: JsonObject, spot: Spot): void {
    const step = { instance: part.token === undefined ? spot.instance : `${spot.instance}/${escapeToken(String(part.token))}`, schema: `${spot.schema}/${part.step}`, location: part.place.path };
    // A name is no part of the value: the error is about the object that has it.
    if (part.keyword === "propertyNames") step.instance = spot.instance;
    if (part.schema !== false) return this.explain(part.schema, part.place, part.value, step);
    this.#forbidden(part.keyword, part.token, part.value, names(parent), step);
  }

  #forbidden(keyword: string, token: string | number | undefined, value: unknown, known: readonly string[], step: Spot): void {
    const start = step.schema.lastIndexOf(`/${keyword}`);
    const rest = step.schema.slice(start + 1);
    const spot = { instance: step.instance, schema: step.schema.slice(0, start), location: step.location.slice(0, -rest.length - 1) };
    if (typeof token !== "string" || keyword === "propertyNames") {
      return this.#add(spot, rest, typeof token === "number" ? "no item here" : "no value here", value, undefined, keyword);
    }
    const near = nearest(token, known);
    const hint = near !== undefined ? `Did you mean ${quote(near)}?` : known.length > 0 ? `Known properties are ${choices(known)}.` : undefined;
    // The value of a misspelt name may be a secret.
    this.#push(failure(spot, rest, keyword, `no property ${quote(token)}`, "an object that has it", hint));
  }

  #missing(needed: readonly string[], value: JsonObject, schema: JsonObject, step: string, spot: Spot): void {
    const known = names(schema);
    const unknown = Object.keys(value).filter((name) => !known.includes(name));
    for (const name of needed) {
      if (Object.hasOwn(value, name)) continue;
      const near = nearest(name, unknown);
      this.#add(spot, step, `the property ${quote(name)}`, value, near === undefined ? `Add ${quote(name)}.` : `Rename ${quote(near)} to ${quote(name)}.`, step.split("/")[0]);
    }
  }

  #unevaluated(schema: JsonObject, place: Place, value: unknown, spot: Spot): void {
    const kind = Array.isArray(value) ? "Items" : "Properties";
    const keyword = `unevaluated${kind}`;
    const sub = schema[keyword];
    if (sub === undefined || typeof value !== "object" || value === null) return;
    const seen = new Set<string | number>();
    evaluated(schema, place, value, seen, this.#context, keyword);
    const step = `${spot.schema}/${keyword}`;
    for (const [key, member] of Object.entries(value)) {
      const token = Array.isArray(value) ? Number(key) : key;
      if (seen.has(token)) continue;
      const where = { instance: `${spot.instance}/${escapeToken(key)}`, schema: step, location: `${spot.location}/${keyword}` };
      if (sub === false) this.#forbidden(keyword, token, member, names(schema), where);
      else this.explain(sub, at(place, keyword), member, where);
    }
  }

  /** One error for the keyword, then those of the branch that was most likely meant. */
  #branches(schema: JsonObject, keyword: "anyOf" | "oneOf", place: Place, value: unknown, spot: Spot): void {
    const branches = parts(schema, place, value, this.#context).filter((part) => part.keyword === keyword);
    const matching = branches.flatMap((part, index) => (this.#context.check(part.schema, part.place)(value) ? [index] : []));
    if (matching.length > 1) {
      return this.#add(spot, keyword, "a value that conforms to exactly one branch", value, `It conforms to branches ${matching.join(" and ")}; make it fit only one.`);
    }
    const picked = isObject(value) ? discriminator(schema[keyword] as unknown[], at(place, keyword), this.#context) : undefined;
    if (picked !== undefined) {
      const { key, byTag } = picked;
      const tag = (value as JsonObject)[key];
      const index = Object.hasOwn(value as JsonObject, key) ? byTag.get(tag) : undefined;
      if (index !== undefined) return this.#descend(branches[index] as Part, schema, spot);
      const near = nearest(tag, byTag.keys());
      const hint = near === undefined ? `Set ${quote(key)} to ${choices([...byTag.keys()])}.` : `Did you mean ${quote(near)}?`;
      const where = { instance: Object.hasOwn(value as JsonObject, key) ? `${spot.instance}/${escapeToken(key)}` : spot.instance, schema: spot.schema, location: spot.location };
      return this.#add(where, keyword, `${quote(key)} to be one of ${choices([...byTag.keys()])}`, tag === undefined ? value : tag, hint);
    }
    this.#closest(branches, keyword, schema, value, spot);
  }

  #closest(branches: readonly Part[], keyword: string, schema: JsonObject, value: unknown, spot: Spot): void {
    const outer = this.#errors;
    let best: readonly ValidationError[] = [];
    let bestIndex = 0;
    let least = Infinity;
    const wanted: string[] = [];
    branches.forEach((part, index) => {
      this.#errors = [];
      this.#descend(part, schema, spot);
      const found = this.#errors;
      const atRoot = found.find((error) => error.instancePath === spot.instance && error.keyword === "type");
      if (atRoot !== undefined) wanted.push(atRoot.expected);
      // A branch for another type was hardly meant.
      const score = found.length + (atRoot === undefined ? 0 : 1_000);
      if (score < least) [least, best, bestIndex] = [score, found, index];
    });
    this.#errors = outer;
    if (wanted.length === branches.length) return this.#add(spot, keyword, or([...new Set(wanted)]), value);
    const title = (branches[bestIndex]?.schema as { title?: unknown } | undefined)?.title;
    const name = typeof title === "string" ? `${bestIndex} (${quote(title)})` : String(bestIndex);
    this.#add(spot, keyword, `a value that conforms to ${keyword === "oneOf" ? "exactly one" : "at least one"} of ${branches.length} branches`, value, `Closest is branch ${name}; its errors follow.`);
    for (const error of best) this.#push(error);
  }

  #isHidden(instance: string): boolean {
    if (this.#secrets.size === 0) return false;
    for (let end = instance.length; end >= 0; end = instance.lastIndexOf("/", end - 1)) {
      if (this.#secrets.has(instance.slice(0, end))) return true;
      if (end === 0) break;
    }
    return false;
  }

  #add(spot: Spot, step: string, wanted: string, value: unknown, hint?: string, keyword: string = step): void {
    this.#push(failure(spot, step, keyword, wanted, received(value, this.#isHidden(spot.instance)), hint));
  }

  #push(error: ValidationError): void {
    if (this.#errors.length < this.#context.budget.limits.errors) this.#errors.push(error);
  }
}

/** The names that a schema has properties for. */
const names = (schema: JsonObject): string[] => Object.keys(isObject(schema["properties"]) ? schema["properties"] : {});

export function failure({ instance, schema, location }: Spot, step: string, keyword: string, wanted: string, got: string, hint?: string): ValidationError {
  const end = step === "" ? "" : `/${step}`;
  return {
    instancePath: instance,
    schemaPath: schema + end,
    schemaLocation: (location.includes("#") ? location : `#${location}`) + end,
    keyword,
    expected: wanted,
    received: got,
    message: `${instance === "" ? "The value" : instance}: expected ${wanted}, got ${got}.`,
    ...(hint === undefined ? {} : { hint }),
  };
}

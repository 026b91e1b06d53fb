import { pointerTokens } from "@keyhole/kernel";
import type { JsonObject, JsonValue } from "@keyhole/kernel";

/** The form of one part of a schema. A part without a better form is edited as JSON. */
export type Shape =
  | { readonly kind: "object"; readonly members: readonly Member[]; readonly extra: JsonObject | undefined }
  | {
      readonly kind: "text";
      readonly lines: Lines;
      readonly secret: boolean;
      readonly examples: readonly string[];
    }
  | { readonly kind: "number"; readonly integer: boolean }
  | { readonly kind: "boolean" }
  | { readonly kind: "choice"; readonly options: readonly JsonValue[] }
  | { readonly kind: "list"; readonly items: JsonObject; readonly most: number }
  | { readonly kind: "variants"; readonly variants: readonly Variant[] }
  /** One value: there is nothing to type. */
  | { readonly kind: "null" }
  | { readonly kind: "json" };

/** `grow`: nothing says how long it is, so it starts with one line and takes what it needs. */
export type Lines = "one" | "grow" | "many";

export interface Member {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
}

export interface Variant {
  readonly label: string;
  readonly schema: JsonObject;
}

/** References are followed this far; a recursive schema is edited as JSON below. */
const maxDepth = 12;
/** Parts and members that are folded into one schema, and forms that one part can have: a schema of more is edited as JSON. */
const mostParts = 5_000;
const mostBranches = 100;
const mostOptions = 1_000;
/** Paths, addresses and expressions fit; a text that may be longer is a text of several lines. */
const longText = 10_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function schemasOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A schema with its local references followed and its `allOf` folded in, as far as that is plain. */
export function resolve(schema: unknown, root: JsonObject): JsonObject {
  const work: Work = { root, partsLeft: mostParts };
  const resolved = fold(schema, work, 0);
  return work.partsLeft < 0 ? {} : resolved;
}

interface Work {
  readonly root: JsonObject;
  partsLeft: number;
}

function fold(schema: unknown, work: Work, depth: number): JsonObject {
  if (!isObject(schema) || depth > maxDepth || --work.partsLeft < 0) return {};
  const { $ref, allOf, ...own } = schema;
  const parts = [...($ref === undefined ? [] : [pointed($ref, work.root)]), ...schemasOf(allOf)];
  return parts.reduce<JsonObject>((sum, part) => {
    const below = fold(part, work, depth + 1);
    work.partsLeft -= Object.keys(asObject(below["properties"])).length + stringsOf(below["required"]).length;
    return work.partsLeft < 0 ? {} : merge(below, sum);
  }, own);
}

function pointed(reference: JsonValue | undefined, root: JsonObject): unknown {
  if (typeof reference !== "string" || !reference.startsWith("#")) return {};
  let at: unknown = root;
  for (const key of pointerTokens(decodeURIComponent(reference.slice(1)))) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return {};
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function merge(below: JsonObject, above: JsonObject): JsonObject {
  const required = [...stringsOf(below["required"]), ...stringsOf(above["required"])];
  const properties = { ...asObject(below["properties"]), ...asObject(above["properties"]) };
  return {
    ...below,
    ...above,
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** `schema` has been resolved. */
export function shapeOf(schema: JsonObject, root: JsonObject, depth: number): Shape {
  if (depth > maxDepth) return { kind: "json" };
  if (Object.hasOwn(schema, "const")) return { kind: "choice", options: [schema["const"] as JsonValue] };
  const options = schema["enum"];
  if (Array.isArray(options) && options.length > mostOptions) return { kind: "json" };
  if (Array.isArray(options)) return { kind: "choice", options: options as readonly JsonValue[] };
  const branches = schemasOf(schema["oneOf"] ?? schema["anyOf"]);
  if (branches.length > mostBranches) return { kind: "json" };
  if (branches.length > 0) return branchesOf(schema, branches, root);
  const type = schema["type"];
  if (Array.isArray(type)) {
    const variants = stringsOf(type).map((each) => ({ label: each, schema: { ...schema, type: each } }));
    return { kind: "variants", variants };
  }
  switch (type ?? guessType(schema)) {
    case "object":
      return objectShape(schema);
    case "string":
      return textShape(schema);
    case "integer":
    case "number":
      return { kind: "number", integer: type === "integer" };
    case "boolean":
      return { kind: "boolean" };
    case "array":
      return listShape(schema);
    case "null":
      return { kind: "null" };
    default:
      return { kind: "json" };
  }
}

function guessType(schema: JsonObject): string | undefined {
  if (isObject(schema["properties"])) return "object";
  return isObject(schema["items"]) ? "array" : undefined;
}

/** `oneOf` of constants is a choice; of anything else, a choice of forms. */
function branchesOf(schema: JsonObject, branches: readonly JsonObject[], root: JsonObject): Shape {
  const resolved = branches.map((branch) => resolve(branch, root));
  if (resolved.every((branch) => Object.hasOwn(branch, "const"))) {
    return { kind: "choice", options: resolved.map((branch) => branch["const"] as JsonValue) };
  }
  const { oneOf: _oneOf, anyOf: _anyOf, title: _title, description: _description, ...shared } = schema;
  const forms = resolved.flatMap(typesOf);
  const labels = labelsOf(forms);
  const variants = forms.map((form, index) => ({
    label: labels[index] ?? `Option ${index + 1}`,
    schema: merge(shared, form),
  }));
  return { kind: "variants", variants };
}

/** A branch for several types is several forms, unless it has one name for all of them. */
function typesOf(branch: JsonObject): readonly JsonObject[] {
  const types = textOf(branch["title"]) === undefined ? stringsOf(branch["type"]) : [];
  return types.length === 0 ? [branch] : types.map((type) => ({ ...branch, type }));
}

/** No two are the same: what has no name of its own is told apart by its members, or has no label. */
function labelsOf(forms: readonly JsonObject[]): readonly (string | undefined)[] {
  const short = forms.map(labelOf);
  const long = forms.map((form, index) => {
    const names = stringsOf(form["required"] ?? Object.keys(asObject(form["properties"])));
    return isAlone(short[index], short) || names.length === 0
      ? short[index]
      : `${short[index] ?? "object"} with ${names.join(", ")}`;
  });
  return long.map((label) => (isAlone(label, long) ? label : undefined));
}

function labelOf(form: JsonObject): string | undefined {
  const constant = Object.hasOwn(form, "const") ? JSON.stringify(form["const"]) : undefined;
  return textOf(form["title"]) ?? constant ?? textOf(form["type"]) ?? guessType(form);
}

function isAlone(label: string | undefined, labels: readonly (string | undefined)[]): boolean {
  return labels.filter((each) => each === label).length === 1;
}

function objectShape(schema: JsonObject): Shape {
  const required = new Set(stringsOf(schema["required"]));
  const members = Object.entries(asObject(schema["properties"])).map(([name, member]) => ({
    name,
    schema: asObject(member),
    required: required.has(name),
  }));
  const extra = schema["additionalProperties"];
  const isOpen = extra === undefined ? members.length === 0 : extra !== false;
  return { kind: "object", members, extra: isOpen ? asObject(extra) : undefined };
}

function textShape(schema: JsonObject): Shape {
  const most = schema["maxLength"];
  const isLine = typeof schema["format"] === "string" || typeof schema["pattern"] === "string";
  const lines = isLine || (typeof most === "number" && most <= longText) ? "one" : most === undefined ? "grow" : "many";
  return {
    kind: "text",
    lines,
    secret: schema["format"] === "password" || schema["writeOnly"] === true,
    examples: stringsOf(schema["examples"]),
  };
}

function listShape(schema: JsonObject): Shape {
  const { items, prefixItems, maxItems } = schema;
  if (prefixItems !== undefined || !isObject(items)) return { kind: "json" };
  return { kind: "list", items, most: typeof maxItems === "number" ? maxItems : Infinity };
}

/** Inputs that the author of a tool gives as examples (JSON Schema, `examples` at the top). Whether they fit, the form shows as with any other input. */
export function examplesOf(root: JsonObject): readonly JsonObject[] {
  const given = root["examples"];
  return Array.isArray(given) ? given.filter(isObject) : [];
}

export function titleOf(schema: JsonObject, name: string): string {
  return textOf(schema["title"]) ?? name;
}

export function descriptionOf(schema: JsonObject): string | undefined {
  return textOf(schema["description"]);
}

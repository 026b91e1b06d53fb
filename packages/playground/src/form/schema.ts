import { compileSchema } from "@keyhole/kernel/schema";
import { isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";
import { asObject, maxDepth, merge, resolve, schemasOf, stringsOf, textOf } from "./resolve.ts";

/** The form of one part of a schema. The person edits a part without a better form as JSON. */
export type Shape =
  | ObjectShape
  | { readonly kind: "text"; readonly text: TextForm }
  | { readonly kind: "number"; readonly integer: boolean }
  | { readonly kind: "boolean" }
  | { readonly kind: "choice"; readonly options: readonly Option[] }
  /** Any of a few values, each at most once. */
  | { readonly kind: "set"; readonly options: readonly Option[] }
  | { readonly kind: "list"; readonly items: JsonObject; readonly most: number }
  | { readonly kind: "variants"; readonly variants: readonly Variant[] }
  /** One value: there is nothing to type. */
  | { readonly kind: "null" }
  | { readonly kind: "json" };

export interface ObjectShape {
  readonly kind: "object";
  readonly members: readonly Member[];
  /** For members whose names the person chooses. */
  readonly extra: Extra | undefined;
}

export interface Extra {
  /** By regular expressions that the name has to match. */
  readonly patterns: readonly { readonly pattern: string; readonly schema: JsonObject }[];
  /** For names that fit none of them; `undefined`: there may be none. */
  readonly others: JsonObject | undefined;
}

export interface TextForm {
  readonly lines: Lines;
  readonly secret: boolean;
  readonly examples: readonly string[];
  readonly format: string | undefined;
}

export interface Option {
  readonly value: JsonValue;
  readonly text: string;
}

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

/** Forms and options that one part can have: a schema of more is edited as JSON. */
const mostBranches = 100;
const mostOptions = 1_000;
/** Paths, addresses and expressions fit; a text that may be longer is a text of several lines. */
const longText = 10_000;

/** `schema` has been resolved. */
export function shapeOf(schema: JsonObject, root: JsonObject, depth: number): Shape {
  if (depth > maxDepth) return { kind: "json" };
  if (Object.hasOwn(schema, "const")) return { kind: "choice", options: [optionOf(schema["const"] as JsonValue)] };
  const options = schema["enum"];
  if (Array.isArray(options) && options.length > mostOptions) return { kind: "json" };
  if (Array.isArray(options)) return { kind: "choice", options: (options as readonly JsonValue[]).map(optionOf) };
  const branches = schemasOf(schema["oneOf"] ?? schema["anyOf"]);
  if (branches.length > mostBranches) return { kind: "json" };
  if (branches.length > 0 && !isOnlyAbout(branches, root)) return branchesOf(schema, branches, root);
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
      return listShape(schema, root, depth);
    case "null":
      return { kind: "null" };
    default:
      return { kind: "json" };
  }
}

function optionOf(value: JsonValue): Option {
  return { value, text: typeof value === "string" ? value : JSON.stringify(value) };
}

/** Branches that only say which members belong together, such as `anyOf` of `required`, are no forms to choose from: the faults of a field tell them. */
function isOnlyAbout(branches: readonly JsonObject[], root: JsonObject): boolean {
  return branches.every((branch) => Object.keys(resolve(branch, root)).every((keyword) => presence.has(keyword)));
}

const presence: ReadonlySet<string> = new Set(["required", "not", "title", "description", "$comment"]);

function guessType(schema: JsonObject): string | undefined {
  if (isJsonObject(schema["properties"]) || isJsonObject(schema["patternProperties"])) return "object";
  return isJsonObject(schema["items"]) ? "array" : undefined;
}

/** `oneOf` of constants is a choice; of anything else, a choice of forms. */
function branchesOf(schema: JsonObject, branches: readonly JsonObject[], root: JsonObject): Shape {
  const resolved = branches.map((branch) => resolve(branch, root));
  if (resolved.every((branch) => Object.hasOwn(branch, "const"))) {
    const options = resolved.map((branch) => {
      const option = optionOf(branch["const"] as JsonValue);
      return { ...option, text: textOf(branch["title"]) ?? option.text };
    });
    return { kind: "choice", options };
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

/** No two are the same: a part without its own name has a label from its members, or none. */
function labelsOf(forms: readonly JsonObject[]): readonly (string | undefined)[] {
  const tag = tagOf(forms);
  const short = forms.map((form) => textOf(form["title"]) ?? constOf(form, tag) ?? labelOf(form));
  const long = forms.map((form, index) => {
    const names = stringsOf(form["required"] ?? Object.keys(asObject(form["properties"])));
    return isAlone(short[index], short) || names.length === 0
      ? short[index]
      : `${short[index] ?? "object"} with ${names.join(", ")}`;
  });
  return long.map((label) => (isAlone(label, long) ? label : undefined));
}

/** The member whose value tells the forms apart: OpenAPI's `discriminator`, or one that is a constant in each. */
function tagOf(forms: readonly JsonObject[]): string {
  const [first] = forms;
  const names = Object.keys(asObject(first?.["properties"]));
  return names.find((name) => forms.every((form) => constOf(form, name) !== undefined)) ?? "";
}

function constOf(form: JsonObject, name: string): string | undefined {
  const properties = asObject(form["properties"]);
  const member = Object.hasOwn(properties, name) ? asObject(properties[name]) : {};
  const values = Object.hasOwn(member, "const") ? [member["const"]] : member["enum"];
  const [value, ...others] = Array.isArray(values) ? values : [];
  return value === undefined || others.length > 0 ? undefined : optionOf(value).text;
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
  // Required first; within both the author's order.
  const ordered = [...members.filter(({ required }) => required), ...members.filter(({ required }) => !required)];
  return { kind: "object", members: ordered, extra: extraOf(schema) };
}

function extraOf(schema: JsonObject): Extra | undefined {
  const extra = schema["additionalProperties"];
  const patterns = Object.entries(asObject(schema["patternProperties"])).map(([pattern, each]) => ({
    pattern,
    schema: asObject(each),
  }));
  // An author who names members and says nothing of others means those members.
  const isOpen = extra === undefined ? !isJsonObject(schema["properties"]) && patterns.length === 0 : extra !== false;
  if (!isOpen && patterns.length === 0) return undefined;
  return { patterns, others: isOpen ? asObject(extra) : undefined };
}

/** The schema of a member whose name the person chose. */
export function schemaOfExtra({ patterns, others }: Extra, name: string): JsonObject {
  return patterns.find(({ pattern }) => isMatch(pattern, name))?.schema ?? others ?? patterns[0]?.schema ?? {};
}

/** The kernel's own expressions: they take time that grows with the name alone, for every pattern of the author. */
function isMatch(pattern: string, name: string): boolean {
  const compiled = compileSchema({ type: "string", pattern });
  return compiled.ok && compiled.validator.check(name);
}

function textShape(schema: JsonObject): Shape {
  const most = schema["maxLength"];
  const isLine = typeof schema["format"] === "string" || typeof schema["pattern"] === "string";
  const lines = isLine || (typeof most === "number" && most <= longText) ? "one" : most === undefined ? "grow" : "many";
  const format = textOf(schema["format"]) ?? (schema["pattern"] === colour ? "color" : undefined);
  const secret = format === "password" || schema["writeOnly"] === true;
  return { kind: "text", text: { lines, secret, examples: stringsOf(schema["examples"]), format } };
}

const colour = "^#[0-9a-fA-F]{6}$";
/** Boxes to tick that a person looks through. */
const mostTicks = 60;

function listShape(schema: JsonObject, root: JsonObject, depth: number): Shape {
  const { items, prefixItems, maxItems } = schema;
  if (prefixItems !== undefined || !isJsonObject(items)) return { kind: "json" };
  const each = shapeOf(resolve(items, root), root, depth + 1);
  const isSet = schema["uniqueItems"] === true && each.kind === "choice" && each.options.length <= mostTicks;
  if (isSet) return { kind: "set", options: each.options };
  return { kind: "list", items, most: typeof maxItems === "number" ? maxItems : Infinity };
}

/** Inputs that the author of a tool gives as examples (JSON Schema, `examples` at the top). Whether they fit, the form shows as with any other input. */
export function examplesOf(root: JsonObject): readonly JsonObject[] {
  const given = root["examples"];
  return Array.isArray(given) ? given.filter(isJsonObject) : [];
}

export function titleOf(schema: JsonObject, name: string): string {
  return textOf(schema["title"]) ?? name;
}

export function descriptionOf(schema: JsonObject): string | undefined {
  return textOf(schema["description"]);
}

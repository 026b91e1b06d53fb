import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  snippetCompletion,
} from "@codemirror/autocomplete";
import { ensureSyntaxTree, syntaxTree } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";

type Tree = ReturnType<typeof syntaxTree>;
type Node = Tree["topNode"];

/** The editor parses a long text piece by piece when it is idle. A completion waits this long for the piece before the caret. */
const parseMs = 200;

/** A completion that holds in the whole text, also in pieces that the editor has not parsed yet. */
export function completion(source: CompletionSource): Extension {
  return EditorState.languageData.of(() => [{ autocomplete: source }]);
}

/**
 * Completes a JSON text from its schema: names of members with what they mean, and values where the schema names them. Of alternatives, those that contradict a
 * constant that stands in the text fall out.
 *
 * @param known values that no schema has, by the name of the member that holds them
 */
export function completeFrom(
  schema: JsonObject,
  known: ReadonlyMap<string, readonly string[]>,
): (context: CompletionContext) => CompletionResult | null {
  return ({ state, pos, explicit }) => {
    const text = state.doc.toString();
    const tree = ensureSyntaxTree(state, pos, parseMs) ?? syntaxTree(state);
    const node = tree.resolveInner(pos, -1);
    const isQuoted = (node.name === "String" || node.name === "PropertyName") && node.to >= pos && node.from < pos;
    const [from, to] = isQuoted ? [node.from, node.to] : [wordStart(text, pos), pos];
    if (!explicit && from === pos && !isQuoted) return null;
    const isName = isQuoted && node.name === "PropertyName";
    const container = isName ? (node.parent?.parent ?? null) : isQuoted ? node.parent : node;
    const isKey = isName || (!isQuoted && nearest(node)?.name === "Object");
    const options = isKey
      ? keysAt(schema, nearest(container), text, /^\s*:/.test(text.slice(to)))
      : valuesAt(schema, container, text, known);
    return options.length === 0 ? null : { from, to, options, filter: true };
  };
}

function keysAt(schema: JsonObject, object: Node | undefined, text: string, hasColon: boolean): readonly Completion[] {
  if (object?.name !== "Object") return [];
  const taken = new Set(Object.keys(membersOf(object, text)));
  const found = new Map<string, Completion>();
  for (const each of schemasAt(schema, object, text))
    for (const [name, property] of Object.entries(propertiesOf(each)))
      if (!taken.has(name) && !found.has(name)) found.set(name, keyCompletion(name, property, hasColon));
  return [...found.values()];
}

function keyCompletion(name: string, property: JsonValue, hasColon: boolean): Completion {
  const quoted = JSON.stringify(name);
  const description = isJsonObject(property) ? property["description"] : undefined;
  const more = {
    label: quoted,
    type: "property",
    ...(typeof description === "string" && { info: description }),
    ...(isJsonObject(property) && typeof property["type"] === "string" && { detail: property["type"] }),
  };
  return hasColon ? { ...more, apply: quoted } : snippetCompletion(`${quoted}: ${skeletonOf(property)}`, more);
}

function skeletonOf(property: JsonValue): string {
  const type = isJsonObject(property) ? property["type"] : undefined;
  if (type === "array") return "[#{}]";
  if (type === "object") return "{#{}}";
  return type === "string" ? '"#{}"' : "#{}";
}

function valuesAt(
  schema: JsonObject,
  node: Node | null,
  text: string,
  known: ReadonlyMap<string, readonly string[]>,
): readonly Completion[] {
  const place = node === null ? undefined : valuePlace(node);
  if (place === undefined) return [];
  const { holder, name } = place;
  const schemas = schemasAt(schema, holder, text).flatMap((each) => inner(each, name, undefined));
  const own = schemas.flatMap(valuesOf);
  const member = memberName(holder, name, text);
  const other = (known.get(member) ?? []).map((value): JsonValue => value);
  return [...new Set([...own, ...other].map((value) => JSON.stringify(value)))].map((label) => ({
    label,
    type: "constant",
  }));
}

/** The container of a value, and the name of its member; `undefined` as a name is an item. */
function valuePlace(node: Node): { readonly holder: Node; readonly name: string | undefined } | undefined {
  if (node.name === "Array") return { holder: node, name: undefined };
  const property = node.name === "Property" ? node : node.parent?.name === "Property" ? node.parent : undefined;
  if (property === undefined || property.parent === null) return undefined;
  return { holder: property, name: "" };
}

function memberName(holder: Node, name: string | undefined, text: string): string {
  const property = name === undefined ? holder.parent : holder;
  return property?.name === "Property" ? nameOf(property, text) : "";
}

/** Schemas for the value of a container, from the root down. */
function schemasAt(schema: JsonObject, node: Node, text: string): readonly JsonObject[] {
  const path: Node[] = [];
  for (let at: Node | null = node; at !== null && path.length < 64; at = at.parent) path.unshift(at);
  let schemas: readonly JsonObject[] = expand(schema, undefined);
  for (const [index, each] of path.entries()) {
    const value = path[index + 1];
    if (each.name === "Property") {
      const own = value === undefined ? undefined : membersOf(value, text);
      schemas = schemas.flatMap((one) => inner(one, nameOf(each, text), own));
    }
    if (each.name === "Array" && value !== undefined)
      schemas = schemas.flatMap((one) => inner(one, undefined, membersOf(value, text)));
  }
  return schemas;
}

/** @param name `undefined` for an item; an empty name is the value that the schema is for */
function inner(schema: JsonObject, name: string | undefined, own: JsonObject | undefined): readonly JsonObject[] {
  if (name === "") return [schema];
  const properties = propertiesOf(schema);
  const next =
    name === undefined
      ? schema["items"]
      : Object.hasOwn(properties, name)
        ? properties[name]
        : schema["additionalProperties"];
  return isJsonObject(next) ? expand(next, own) : [];
}

/** A schema and its alternatives, without those that a constant of the text contradicts. */
function expand(schema: JsonObject, own: JsonObject | undefined): readonly JsonObject[] {
  const alternatives = ["oneOf", "anyOf", "allOf"].flatMap((word) => {
    const list = schema[word];
    return isJsonArray(list) ? list.filter(isJsonObject) : [];
  });
  return [schema, ...alternatives.filter((each) => own === undefined || fits(each, own))];
}

function fits(schema: JsonObject, own: JsonObject): boolean {
  return Object.entries(propertiesOf(schema)).every(([name, property]) => {
    if (!Object.hasOwn(own, name) || !isJsonObject(property)) return true;
    const values = valuesOf(property);
    return values.length === 0 || own[name] === "" || values.includes(own[name] ?? null);
  });
}

function valuesOf(schema: JsonObject): readonly JsonValue[] {
  if (Object.hasOwn(schema, "const")) return [schema["const"] ?? null];
  if (isJsonArray(schema["enum"])) return schema["enum"];
  return schema["type"] === "boolean" ? [true, false] : [];
}

function propertiesOf(schema: JsonObject): JsonObject {
  const properties = schema["properties"];
  return isJsonObject(properties) ? properties : {};
}

/** Members of an object in the text, with the values that are no containers. */
function membersOf(object: Node, text: string): JsonObject {
  if (object.name !== "Object") return {};
  return Object.fromEntries(
    object.getChildren("Property").map((property): readonly [string, JsonValue] => {
      const value = property.lastChild;
      return [nameOf(property, text), value === null ? null : scalar(text.slice(value.from, value.to))];
    }),
  );
}

function nameOf(property: Node, text: string): string {
  const name = property.getChild("PropertyName");
  const read = name === null ? "" : scalar(text.slice(name.from, name.to));
  return typeof read === "string" ? read : "";
}

function scalar(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === "object" ? null : value;
  } catch {
    return null;
  }
}

function nearest(node: Node | null): Node | undefined {
  for (let at = node; at !== null; at = at.parent)
    if (at.name === "Object" || at.name === "Array" || at.name === "Property") return at;
  return undefined;
}

function wordStart(text: string, pos: number): number {
  let at = pos;
  while (at > 0 && /[\w.-]/.test(text.charAt(at - 1))) at--;
  return at;
}

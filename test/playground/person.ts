import { isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";
import * as fc from "fast-check";
import { resolve } from "../../packages/playground/src/form/resolve.ts";
import { schemaOfExtra, shapeOf } from "../../packages/playground/src/form/schema.ts";
import { type Draft, initialValue } from "../../packages/playground/src/form/value.ts";

const formats: Readonly<Record<string, string>> = {
  date: "2026-11-26",
  time: "12:30:00Z",
  "date-time": "2026-11-26T12:30:00Z",
  uri: "https://example.com/a",
  email: "a@example.com",
  hostname: "example.com",
  ipv4: "127.0.0.1",
  ipv6: "::1",
  uuid: "01a21963-dfe4-4aab-9450-5e2c26ed6dbb",
};

/** What somebody enters who fills in nothing but the fields that must be, by the form's own parts. `json` names the places that have no form. */
export interface Person {
  readonly json: string[];
  fill(schema: JsonObject): Draft;
}

export function person(): Person {
  const json: string[] = [];
  return { json, fill: (schema) => filled(schema, schema, { depth: 0, at: "", json }) };
}

interface Place {
  readonly depth: number;
  readonly at: string;
  readonly json: string[];
}

function filled(schema: JsonObject, root: JsonObject, place: Place): Draft {
  const resolved = resolve(schema, root);
  const { depth, at, json } = place;
  const within = (part: JsonObject, name: string): Draft =>
    filled(part, root, { depth: depth + 1, at: `${at}/${name}`, json });
  const shape = shapeOf(resolved, root, depth);
  const start = initialValue(schema, root, true, depth);
  switch (shape.kind) {
    case "object": {
      const value: Record<string, JsonValue> = isJsonObject(start) ? { ...start } : {};
      for (const { name, schema: member, required } of shape.members) {
        const given = required ? within(member, name) : value[name];
        if (given === undefined) delete value[name];
        else Object.defineProperty(value, name, { value: given, enumerable: true, configurable: true, writable: true });
      }
      for (const name of namesToAdd(resolved, Object.keys(value)))
        if (shape.extra !== undefined) value[name] = within(schemaOfExtra(shape.extra, name), name) ?? "x";
      return value;
    }
    case "variants":
      return within(shape.variants[0]!.schema, "0");
    case "list": {
      const least = numberOf(resolved["minItems"], 0);
      return Array.from({ length: least }, (_, index) => within(shape.items, String(index)) ?? null);
    }
    case "set":
      return shape.options.slice(0, numberOf(resolved["minItems"], 0)).map(({ value }) => value);
    case "choice":
      return start ?? shape.options[0]!.value;
    case "number":
      return start ?? numberFor(resolved);
    case "text":
      return start ?? textFor(resolved, shape.text.examples[0]);
    case "json":
      json.push(at);
      return start;
    default:
      return start;
  }
}

/** Names that a person adds, because there must be so many or these. */
function namesToAdd(schema: JsonObject, known: readonly string[]): readonly string[] {
  const patterns = Object.keys(isJsonObject(schema["patternProperties"]) ? schema["patternProperties"] : {});
  const least = numberOf(schema["minProperties"], 0) - known.length;
  return Array.from({ length: Math.max(0, least) }, (_, index) =>
    patterns[0] === undefined ? `name${index}` : matching(patterns[0], index + 1),
  );
}

function numberOf(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function numberFor(schema: JsonObject): number {
  const least = numberOf(schema["minimum"], numberOf(schema["exclusiveMinimum"], -1) + 1);
  const step = numberOf(schema["multipleOf"], 1);
  const first = Math.ceil(least / step) * step;
  return Math.min(first, numberOf(schema["maximum"], first));
}

function textFor(schema: JsonObject, example: string | undefined): string {
  if (example !== undefined) return example;
  const known = formats[String(schema["format"])];
  if (known !== undefined) return known;
  if (typeof schema["pattern"] === "string") return matching(schema["pattern"], 1);
  return "x".repeat(Math.max(1, numberOf(schema["minLength"], 1)));
}

function matching(pattern: string, seed: number): string {
  return fc.sample(fc.stringMatching(new RegExp(pattern, "u")), { seed, numRuns: 1 })[0]!;
}

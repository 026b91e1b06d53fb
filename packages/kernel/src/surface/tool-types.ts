import { unescapeToken } from "../json/pointer.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import type { ToolManifest } from "../tool/manifest.ts";

/** Of a tool, what its types need. */
export type TypedTool = Pick<ToolManifest, "name" | "description" | "input" | "output">;

/** Schemas inside one another; deeper ones are `unknown`. */
const mostDepth = 16;

/**
 * Declarations of TypeScript for tools, as a program of `run_code` calls them. A model reads them
 * in place of JSON Schema: they are shorter. Patterns, ranges and other rules that TypeScript lacks
 * are left out; the kernel checks them.
 *
 * @example
 * const declarations = toolTypes(kernel.list({ caller: "agent" }).map(({ manifest }) => manifest));
 */
export function toolTypes(tools: readonly TypedTool[]): string {
  return `declare const tools: {\n${tools.map(methodOf).join("")}};\n`;
}

function methodOf({ name, description, input, output }: TypedTool): string {
  const isOptional = !Array.isArray(input["required"]) || input["required"].length === 0;
  const given = typeOf(input, { root: input, depth: 0, references: [] });
  const { schema } = output;
  const json = schema === undefined ? "unknown" : typeOf(schema, { root: schema, depth: 0, references: [] });
  const result = output.kind === "json" ? json : output.kind === "text" ? "string" : "Uint8Array";
  return `  ${commentOf(description)}${name}(input${isOptional ? "?" : ""}: ${given}): Promise<${result}>;\n`;
}

/** The path to a schema: the document of `$ref`, and the references that led here. */
interface Way {
  readonly root: JsonObject;
  readonly depth: number;
  readonly references: readonly string[];
}

function typeOf(schema: JsonValue | undefined, way: Way): string {
  if (schema === false) return "never";
  if (!isJsonObject(schema) || way.depth > mostDepth) return "unknown";
  const inner = { ...way, depth: way.depth + 1 };
  if (typeof schema["$ref"] === "string") return referred(schema["$ref"], inner);
  if (schema["const"] !== undefined) return literal(schema["const"]);
  if (Array.isArray(schema["enum"])) return joined(schema["enum"].map(literal), " | ");
  const parts = ["anyOf", "oneOf"].flatMap((keyword) => {
    const list: unknown = schema[keyword];
    return Array.isArray(list)
      ? [
          joined(
            list.map((each: JsonValue) => typeOf(each, inner)),
            " | ",
          ),
        ]
      : [];
  });
  const all = Array.isArray(schema["allOf"]) ? schema["allOf"].map((each: JsonValue) => typeOf(each, inner)) : [];
  const own = ownType(schema, inner);
  const known = [own, ...parts, ...all].filter((type) => type !== "unknown");
  return joined(known, " & ");
}

function ownType(schema: JsonObject, way: Way): string {
  const { type } = schema;
  if (Array.isArray(type))
    return joined(
      type.map((each: JsonValue) => ownType({ ...schema, type: each }, way)),
      " | ",
    );
  if (type === "integer" || type === "number") return "number";
  if (type === "string" || type === "boolean" || type === "null") return type;
  if (type === "array" || schema["items"] !== undefined) return arrayType(schema, way);
  if (type === "object" || schema["properties"] !== undefined) return objectType(schema, way);
  return "unknown";
}

function arrayType({ items, prefixItems }: JsonObject, way: Way): string {
  const rest = `${inBrackets(typeOf(items, way))}[]`;
  if (!Array.isArray(prefixItems)) return rest;
  const first = prefixItems.map((each: JsonValue) => typeOf(each, way));
  return `[${[...first, ...(items === false ? [] : [`...${rest}`])].join(", ")}]`;
}

function objectType({ properties, required, additionalProperties }: JsonObject, way: Way): string {
  const members = isJsonObject(properties) ? Object.entries(properties) : [];
  if (members.length === 0) return `Record<string, ${typeOf(additionalProperties, way)}>`;
  const named = members.map(([name, schema]) => {
    const mark = Array.isArray(required) && required.includes(name) ? "" : "?";
    const description = isJsonObject(schema) ? schema["description"] : undefined;
    return `${commentOf(description)}${propertyName(name)}${mark}: ${typeOf(schema, way)}`;
  });
  const isOpen = additionalProperties === true || isJsonObject(additionalProperties);
  return `{ ${[...named, ...(isOpen ? ["[name: string]: unknown"] : [])].join("; ")} }`;
}

/** A schema inside the same document (RFC 6901). A schema that holds itself is `unknown` from its second time on. */
function referred(reference: string, way: Way): string {
  if (!reference.startsWith("#") || way.references.includes(reference)) return "unknown";
  const tokens = reference.slice(1).split("/").slice(1);
  let found: JsonValue | undefined = way.root;
  for (const token of tokens) {
    const name = unescapeToken(token);
    found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return typeOf(found, { ...way, references: [...way.references, reference] });
}

function literal(value: JsonValue): string {
  return typeof value === "object" && value !== null ? "unknown" : JSON.stringify(value);
}

function joined(types: readonly string[], by: " | " | " & "): string {
  const different = [...new Set(types)];
  if (different.includes("unknown") || different.length === 0) return "unknown";
  if (different.length === 1) return different.join("");
  return `(${different.join(by)})`;
}

function inBrackets(type: string): string {
  return /^[\w"{(]/.test(type) && !type.includes(" & ") ? type : `(${type})`;
}

const identifier = /^[A-Za-z_$][\w$]*$/;

function propertyName(name: string): string {
  return identifier.test(name) ? name : JSON.stringify(name);
}

function commentOf(description: JsonValue | undefined): string {
  if (typeof description !== "string" || description.trim() === "") return "";
  return `/** ${description.replaceAll("*/", "*\\/").replaceAll(/\s+/g, " ").trim()} */ `;
}

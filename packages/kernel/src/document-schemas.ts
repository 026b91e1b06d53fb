import { variableName } from "./policy/document/variables.ts";
import { digestPattern } from "./hash/hash.ts";
import { builtInFamilies } from "./capability/families/index.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json/json.ts";
import { documentSchema } from "./policy/document/schema.ts";
import { manifestSchema } from "./tool/manifest-schema.ts";
import * as texts from "./document-texts.ts";

/*
 * `@keyhole/kernel/document-schemas`: the JSON Schemas (2020-12) of the files that people write, made of the schemas that validate them. Editors complete and check
 * with them. Nothing that a kernel runs imports this module.
 */

const dialect = "https://json-schema.org/draft/2020-12/schema";

/** Descriptions of the properties of single schemas. A key is the schema's JSON Pointer (RFC 6901); `*` stands for an index. */
type TextsByPlace = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A copy with a description at each property that a table names. */
function described(schema: JsonValue, places: TextsByPlace, pointer = ""): JsonValue {
  if (Array.isArray(schema)) return schema.map((each: JsonValue) => described(each, places, `${pointer}/*`));
  if (!isJsonObject(schema)) return schema;
  const own = Object.hasOwn(places, pointer) ? places[pointer] : undefined;
  return mapped(schema, (value, key) => {
    const inner = described(value, places, `${pointer}/${key}`);
    if (key !== "properties" || own === undefined || !isJsonObject(inner)) return inner;
    return mapped(inner, (property, name) => withText(property, Object.hasOwn(own, name) ? own[name] : undefined));
  });
}

function withText(property: JsonValue, description: string | undefined): JsonValue {
  if (description === undefined) return property;
  return { description, ...(isJsonObject(property) && property) };
}

/** A policy may have `${NAME}` where a text has a pattern: the kernel fills in variables before it validates the policy. */
function withVariables(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(withVariables);
  if (!isJsonObject(schema)) return schema;
  const copy = mapped(schema, withVariables);
  const { type, pattern } = schema;
  if (type !== "string" || typeof pattern !== "string") return copy;
  return { ...copy, pattern: `(?:${pattern})|\\$\\{${variableName}\\}` };
}

function mapped(object: JsonObject, change: (value: JsonValue, key: string) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

function published(name: string, title: string, schema: JsonValue): JsonObject {
  return { $schema: dialect, $id: `urn:keyhole:schema:${name}:1`, title, ...(isJsonObject(schema) && schema) };
}

const capabilityPlaces = (at: string): TextsByPlace => ({
  [`${at}/oneOf/*`]: texts.capabilityTexts,
  [`${at}/oneOf/*/properties/commands/items`]: texts.commandTexts,
  [`${at}/oneOf/*/properties/commands/items/properties/args/items`]: texts.patternTexts,
});

const rule = "/properties/rules/items";
const governance = "/properties/tools/additionalProperties";

/** JSON Schema of a policy file. */
export const policyFileSchema: JsonObject = published(
  "policy",
  "Keyhole policy",
  described(withVariables(documentSchema(builtInFamilies)), {
    "": texts.policyTexts,
    "/properties/grants/items": texts.grantTexts,
    ...capabilityPlaces("/properties/grants/items/properties/capability"),
    [rule]: texts.ruleTexts,
    [`${rule}/properties/when`]: { ...texts.conditionTexts, ...texts.requestTexts },
    [`${rule}/properties/when/properties/arguments/items`]: texts.argumentTexts,
    [`${rule}/properties/when/properties/time`]: texts.timeTexts,
    [`${rule}/properties/when/properties/count`]: texts.countTexts,
    [governance]: { ...texts.governanceTexts, ...texts.listTexts },
    ...Object.fromEntries(
      Object.keys(texts.listTexts).map((name) => [`${governance}/properties/${name}`, texts.governedTexts]),
    ),
    [`${governance}/properties/bounds`]: texts.boundsTexts,
    "/properties/labels/additionalProperties": texts.labelTexts,
    "/properties/passkeys": texts.passkeysTexts,
    "/properties/passkeys/properties/keys/items": texts.passkeyTexts,
  }),
);

const manifestPlaces: TextsByPlace = {
  "": texts.manifestTexts,
  ...capabilityPlaces("/properties/capabilities/items"),
  "/properties/capabilities/items/oneOf/*/properties/target": texts.targetTexts,
  "/properties/bounds": texts.boundsTexts,
  "/properties/output": texts.outputTexts,
  "/properties/http": texts.httpTexts,
  "/properties/http/properties/responses/additionalProperties": texts.httpResponseTexts,
  "/properties/http/properties/responses/additionalProperties/properties/error": texts.httpErrorTexts,
};

const { properties, ...form } = described(manifestSchema(builtInFamilies), manifestPlaces) as JsonObject;
const { source, process, program, http, input, ...own } = properties as JsonObject;

/** JSON Schema of the manifest that stands beside a WebAssembly module: an author leaves out what has a default. */
export const manifestFileSchema: JsonObject = published("manifest", "Keyhole tool manifest", {
  ...form,
  properties: {
    $schema: { type: "string", description: texts.policyTexts.$schema },
    ...own,
    input: { ...(input as JsonObject), required: [] },
  },
  required: ["name", "version", "description", "input", "output"],
});

/** JSON Schema of a tool package in a file. Its code is text: an ES module, base64 of a WebAssembly module, or empty for a program of the host and for a request. */
export const packageFileSchema: JsonObject = published("package", "Keyhole tool package", {
  type: "object",
  properties: {
    $schema: { type: "string", description: texts.policyTexts.$schema },
    manifest: {
      description: "The manifest, with every default filled in.",
      ...form,
      properties: { ...({ source, process, program, http, input } as JsonObject), ...own },
    },
    code: { type: "string", description: "The text of an ES module, base64 of a WebAssembly module, or empty." },
    hash: {
      type: "string",
      pattern: digestPattern,
      description: "The digest of manifest and code. A package whose content has another digest is refused.",
    },
  },
  required: ["manifest", "code", "hash"],
  additionalProperties: false,
});

import type { JsonObject } from "../json/json.ts";
import type { Tool } from "./define.ts";
import type { SchemaSource, StandardJsonSchema } from "./infer.ts";
import type { OutputContract, ToolManifest, ToolSource } from "./manifest.ts";
import { manifestDefaults } from "./manifest-schema.ts";

/**
 * The manifest of a defined tool, with every default filled in. Schemas that speak Standard JSON Schema are turned into plain ones. Nothing
 * is checked here: registration does that, for packages from anywhere.
 *
 * @throws the schema library's error, if a schema has no JSON Schema form.
 */
export function manifestOf(tool: Tool<never, unknown>, source: ToolSource): ToolManifest {
  const { name, version, description, input, output, ...rest } = tool.definition;
  return {
    name,
    version,
    description,
    ...manifestDefaults,
    ...rest,
    source,
    input: { type: "object", ...plainSchema(input, "input") },
    output: plainOutput(output),
  };
}

function plainOutput(output: Tool["definition"]["output"]): OutputContract {
  if (output.kind !== "json" || output.schema === undefined) return output as OutputContract;
  return { ...output, schema: plainSchema(output.schema, "output") };
}

function plainSchema(schema: SchemaSource, side: "input" | "output"): JsonObject {
  if (!isStandard(schema)) return schema as JsonObject;
  const { $schema: _, ...plain } = schema["~standard"].jsonSchema[side]({ target: "draft-2020-12" });
  return plain as JsonObject;
}

/** @throws TypeError for a schema that speaks Standard Schema only: it can validate, and cannot say itself as JSON Schema. */
function isStandard(schema: SchemaSource): schema is StandardJsonSchema {
  if (!("~standard" in schema)) return false;
  const standard: unknown = schema["~standard"];
  const speaks = typeof standard === "object" && standard !== null ? standard : {};
  if ("jsonSchema" in speaks && speaks.jsonSchema !== undefined) return true;
  throw new TypeError(
    `This schema (${String("vendor" in speaks ? speaks.vendor : undefined)}) has no JSON Schema of its own. valibot: wrap it in toStandardJsonSchema() of @valibot/to-json-schema`,
  );
}

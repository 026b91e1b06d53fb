import { isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";
import { packageFileSchema, policyFileSchema } from "@keyhole/kernel/document-schemas";
import { configSchema } from "./schema.ts";
import { httpMembers } from "./sections/http.ts";

/*
 * `@keyhole/worker-host/config-schema`: the JSON Schema (2020-12) of a configuration, for editors. It says more than the schema that validates: of each request all that a manifest
 * says, and of the policy all that a policy file does. Nothing that a kernel runs imports this module.
 */

const partOf = (value: JsonValue | undefined, ...names: readonly string[]): JsonObject => {
  let part = value;
  for (const name of names) part = isJsonObject(part) ? part[name] : undefined;
  return isJsonObject(part) ? part : {};
};

const manifest = partOf(packageFileSchema, "properties", "manifest", "properties");
const sections = partOf(configSchema, "properties");
const http = partOf(sections, "http");
const entry = partOf(http, "additionalProperties");
const { $schema: _, $id: __, title: ___, ...policy } = policyFileSchema;

/** JSON Schema of a configuration, in each of its formats. */
export const configFileSchema: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "urn:keyhole:schema:config:1",
  title: "Keyhole configuration",
  ...configSchema,
  properties: {
    ...sections,
    http: {
      ...http,
      additionalProperties: {
        ...entry,
        properties: Object.fromEntries(
          httpMembers.map((name) => [name, manifest[name === "request" ? "http" : name] ?? {}]),
        ),
      },
    },
    policy: {
      description: "A policy, or the path of its file. Default: no grants.",
      anyOf: [{ type: "string", minLength: 1 }, policy],
    },
  },
};

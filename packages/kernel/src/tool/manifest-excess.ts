import { documentExcess } from "../json/document-excess.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import * as limits from "../limits.ts";

/** How a manifest holds more than it may, as a sentence. */
export function manifestExcess(own: JsonValue): string | undefined {
  const excess = documentExcess(withoutSchemas(own), limits.declaration);
  return excess && `A manifest has, beside its schemas, ${excess}.`;
}

/** They have limits of their own. */
function withoutSchemas(own: JsonValue): JsonValue {
  if (!isJsonObject(own)) return null;
  const { input: _, output = null, ...rest } = own;
  if (!isJsonObject(output)) return { ...rest, output };
  const { schema: __, ...contract } = output;
  return { ...rest, output: contract };
}

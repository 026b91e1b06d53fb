import type { JsonObject, JsonValue } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";

/** An input as the kernel hashes it. */
export function withDefaults(schema: JsonObject, input: JsonValue): JsonValue {
  const compiled = compileSchema(schema);
  const valid = compiled.ok ? compiled.validator.validate(input) : undefined;
  return valid?.ok === true ? (valid.value as JsonValue) : input;
}

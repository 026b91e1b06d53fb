import type { JsonObject } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";
import { EdgeFault } from "./fault.ts";

/**
 * Data of an edge is untrusted until its guard has checked it: every member that a client reads has
 * the expected type.
 */
export type Guard<T> = (foreign: unknown) => T;

export function guard<T>(what: string, schema: JsonObject): Guard<T> {
  const compiled = compileSchema(schema, { explain });
  if (!compiled.ok) throw new Error(compiled.error.message);
  return (foreign) => {
    const checked = compiled.validator.validate(foreign);
    if (checked.ok) return checked.value as T;
    const [error] = checked.errors;
    if (error !== undefined && tooMany.has(error.keyword))
      throw new EdgeFault(
        "EDGE_TOO_MUCH",
        `The edge sent ${what} that holds more than this client takes.`,
        error.message,
      );
    throw new EdgeFault(
      "EDGE_NOT_UNDERSTOOD",
      `The edge sent ${what} that this client does not understand.`,
      error?.message ?? "",
    );
  };
}

const tooMany: ReadonlySet<string> = new Set(["maxItems", "maxLength", "maxProperties", "limit"]);

export const text: JsonObject = { type: "string", maxLength: 65_536 };
/** A name, a digest or a time. */
export const word: JsonObject = { type: "string", maxLength: 1_024 };
export const nullableWord: JsonObject = { type: ["string", "null"], maxLength: 1_024 };
export const number: JsonObject = { type: "number" };
export const texts: JsonObject = { type: "array", items: text, maxItems: 1_000 };
export const words: JsonObject = { type: "array", items: word, maxItems: 200 };
export const record = (required: JsonObject, optional: JsonObject = {}): JsonObject => ({
  type: "object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
});

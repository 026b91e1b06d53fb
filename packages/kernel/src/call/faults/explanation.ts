import * as limits from "../../limits.ts";
import type { JsonObject } from "../../json/json.ts";
import type { ValidationError } from "../../schema/index.ts";

/** Cut, and well-formed, so that it can go into a canonical log. */
export function explanation(text: string): string {
  return text.length <= limits.explanationLength
    ? text
    : `${text.slice(0, limits.explanationLength - 1).toWellFormed()}…`;
}

export function errorDetails(error: ValidationError): JsonObject {
  const { instancePath, schemaPath, keyword, expected, received, message, hint } = error;
  return {
    path: explanation(instancePath),
    schemaPath: explanation(schemaPath),
    keyword,
    expected: explanation(expected),
    received: explanation(received),
    message: explanation(message),
    hint: hint === undefined ? null : explanation(hint),
  };
}

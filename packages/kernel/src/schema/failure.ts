import type { ValidationError } from "./types.ts";

/** `schemaPath` is the way as it was walked, `location` the place in its document. */
export function failure(
  instancePath: string,
  schemaPath: string,
  location: string,
  keyword: string,
  expected: string,
  received: string,
  hint?: string,
): ValidationError {
  return {
    instancePath,
    schemaPath,
    schemaLocation: location.includes("#") ? location : `#${location}`,
    keyword,
    expected,
    received,
    message: `${instancePath || "The value"}: expected ${expected}, got ${received}.`,
    ...(hint === undefined ? {} : { hint }),
  };
}

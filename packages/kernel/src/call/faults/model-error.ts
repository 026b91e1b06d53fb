import type { CallError, ModelError } from "../../result.ts";

/**
 * The part of an error for tools and models: all but the `operatorHint`. The log has the digest of
 * this part.
 *
 * @example
 * return { isError: true, content: JSON.stringify(modelError(result.error)) };
 */
export function modelError({ code, message, details, retryable, hint }: CallError): ModelError {
  return { code, message, details, retryable, hint };
}

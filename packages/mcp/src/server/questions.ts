import type { JsonObject } from "@keyhole/kernel";
import type { ClientCapabilities, InputRequests } from "@modelcontextprotocol/server";

/** The property of a tool's input that holds the answers. A client cannot set it. */
export const ANSWERS = "answers";

/** The answers of the client by the name of the request, unchecked. */
export type McpAnswers = Readonly<Record<string, unknown>>;

/**
 * Asks the client's user or model before a call: for a form, a page, a message of the model, or the client's roots. The answers come into the tool's input as its
 * property `answers`, which the listed schema does not have. They are the client's word, and no approval.
 */
export interface McpQuestion {
  /** The missing data; `undefined` when the call can be made. Build it with `inputRequired` of `@modelcontextprotocol/server`. */
  readonly missing: (answers: McpAnswers, input: JsonObject, client: ClientCapabilities) => InputRequests | undefined;
}

/** The input schema for a client. */
export function withoutAnswers(schema: JsonObject): JsonObject {
  const { properties, required, ...rest } = schema;
  const { [ANSWERS]: _, ...others } = (properties ?? {}) as JsonObject;
  const needed = Array.isArray(required) ? required.filter((name) => name !== ANSWERS) : [];
  return { ...rest, properties: others, ...(needed.length > 0 && { required: needed }) };
}

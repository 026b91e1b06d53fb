import { type JsonObject, type JsonValue, pointerOf, pointerTokens, toolNamePattern } from "@keyhole/kernel";

/** Why a configuration is refused, and where in it. */
export interface ConfigFault {
  /** A JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

export function isFault(value: object): value is ConfigFault {
  return "message" in value && "path" in value;
}

/** The fault at the key that a schema does not know: schemas name the object around it. */
export function atUnknownKey(fault: ConfigFault, document: JsonValue): ConfigFault {
  const [, quoted] = /\bno property ("(?:[^"\\]|\\.)*")/.exec(fault.message) ?? [];
  if (quoted === undefined) return fault;
  const key = String(JSON.parse(quoted));
  let value: unknown = document;
  for (const token of pointerTokens(fault.path)) value = memberOf(value, token);
  return memberOf(value, key) === undefined ? fault : { ...fault, path: fault.path + pointerOf([key]) };
}

function memberOf(value: unknown, token: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, token)
    ? Object.entries(value).find(([key]) => key === token)?.[1]
    : undefined;
}

/** A section whose members are tools by their names. */
export function named(entry: JsonObject): JsonObject {
  return {
    type: "object",
    propertyNames: { pattern: toolNamePattern },
    additionalProperties: entry,
    maxProperties: 1_000,
  };
}

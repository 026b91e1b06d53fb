import type { AuditEvent, JsonObject } from "@keyhole/kernel";
import { payloadSchemas } from "@keyhole/kernel/event-schema";
import { compileSchema, type Validator } from "@keyhole/kernel/schema";

const validators = new Map<string, Validator | undefined>();
const seen = new WeakMap<AuditEvent, boolean>();

/**
 * Whether the payload has the form of its type, so that its members can be read. An event comes from an edge, which may be hostile or
 * of another version: a later version may add members.
 */
export function isKnown(event: AuditEvent): boolean {
  const before = seen.get(event);
  if (before !== undefined) return before;
  const isValid = validatorOf(event.type)?.validate(event.payload).ok ?? false;
  seen.set(event, isValid);
  return isValid;
}

function validatorOf(type: string): Validator | undefined {
  if (!validators.has(type)) validators.set(type, compile(type));
  return validators.get(type);
}

function compile(type: string): Validator | undefined {
  if (!Object.hasOwn(payloadSchemas, type)) return undefined;
  const { additionalProperties: _closed, ...open } = (payloadSchemas as Readonly<Record<string, JsonObject>>)[type]!;
  const compiled = compileSchema(open);
  return compiled.ok ? compiled.validator : undefined;
}

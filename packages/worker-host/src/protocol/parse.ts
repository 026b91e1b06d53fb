import { type CapabilityRequest, capabilityKinds, type JsonObject } from "@keyhole/kernel";
import { canonicalize } from "@keyhole/kernel/canonical";
import * as v from "valibot";
import { protocolLimits } from "./limits.ts";
import type { GuestMessage, GuestRequest } from "./message.ts";

const { argumentsDepth, argumentsLength, bodyBytes, messageLength, nameLength, pieceBytes } = protocolLimits;

const line = v.pipe(v.string(), v.maxLength(messageLength));
const name = v.pipe(v.string(), v.maxLength(nameLength));
const id = v.pipe(v.string(), v.maxLength(64));
const amount = v.pipe(v.number(), v.finite());
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Memory that is ours alone, of one size, and no more of it than the bytes: a view of one byte could hold on to a gigabyte. */
const ownBytes = (least: number, most: number) =>
  v.pipe(
    v.instance(Uint8Array),
    v.check(
      ({ buffer, byteLength }) =>
        buffer instanceof ArrayBuffer &&
        !buffer.resizable &&
        buffer.byteLength === byteLength &&
        byteLength >= least &&
        byteLength <= most,
    ),
  );

const output = v.variant("form", [
  v.strictObject({ form: v.literal("json"), text: v.string() }),
  v.strictObject({ form: v.literal("text"), text: v.string() }),
  v.strictObject({ form: v.literal("binary"), bytes: ownBytes(0, Infinity) }),
  v.strictObject({ form: v.literal("stream") }),
]);

const outcome = v.variant("kind", [
  v.strictObject({ kind: v.literal("returned"), output }),
  v.strictObject({ kind: v.literal("refused"), message: line }),
  v.strictObject({ kind: v.literal("threw"), name, message: line, code: v.optional(name) }),
  v.strictObject({ kind: v.literal("unnormalizable"), reason: name, path: line }),
  v.strictObject({ kind: v.literal("too-large"), what: v.literal("output"), limit: count }),
]);

const schemas = {
  ready: v.strictObject({ type: v.literal("ready"), imports: v.boolean(), wasm: v.boolean() }),
  loaded: v.strictObject({ type: v.literal("loaded") }),
  "load-failed": v.strictObject({ type: v.literal("load-failed"), name, message: line }),
  log: v.strictObject({
    type: v.literal("log"),
    callId: id,
    level: v.picklist(["debug", "info", "warn", "error"]),
    message: line,
  }),
  progress: v.strictObject({
    type: v.literal("progress"),
    callId: id,
    done: amount,
    total: v.exactOptional(amount),
    message: v.exactOptional(line),
  }),
  request: v.strictObject({
    type: v.literal("request"),
    callId: id,
    request: count,
    kind: v.picklist(capabilityKinds),
    operation: name,
    arguments: v.pipe(v.string(), v.maxLength(argumentsLength)),
    body: v.optional(ownBytes(0, bodyBytes)),
  }),
  piece: v.strictObject({ type: v.literal("piece"), callId: id, piece: count, bytes: ownBytes(1, pieceBytes) }),
  pull: v.strictObject({ type: v.literal("pull"), callId: id }),
  outcome: v.strictObject({ type: v.literal("outcome"), callId: id, outcome }),
} satisfies {
  readonly [Type in GuestMessage["type"]]: v.GenericSchema<unknown, Extract<GuestMessage, { type: Type }>>;
};

const byType: ReadonlyMap<unknown, v.GenericSchema<unknown, GuestMessage>> = new Map(Object.entries(schemas));

/** Checks one message of a guest; the string says what is wrong with it. Never throws, and repeats nothing that the guest sent. */
export function parseGuestMessage(data: unknown): GuestMessage | string {
  if (typeof data !== "object" || data === null || !Object.hasOwn(data, "type")) return "a message without a type";
  // RPC carries the fields of errors and the like along.
  if (Object.getPrototypeOf(data) !== Object.prototype) return "a message that is not a plain object";
  const schema = byType.get((data as { readonly type: unknown }).type);
  if (schema === undefined) return "a message of unknown type";
  const result = v.safeParse(schema, data, { abortEarly: true });
  if (result.success) return result.output;
  return "a message with a missing, extra, wrong or oversized field";
}

/** The request that a message carries, its arguments now data; a string says what is wrong with them. */
export function parseRequest({ kind, operation, arguments: text, body }: GuestRequest): CapabilityRequest | string {
  let parsed: unknown;
  let named = true;
  try {
    parsed = JSON.parse(text, (key, value: unknown) => {
      // Data here, and a prototype where a broker copies it by assignment.
      if (key === "__proto__") named = false;
      return value;
    });
  } catch {
    return "arguments that are not JSON";
  }
  if (!named) return "arguments with a key that names a prototype";
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return "arguments that are not an object";
  if (!canonicalize(parsed, argumentsDepth).ok) return "arguments that are too deep or not well-formed";
  return { kind, operation, arguments: parsed as JsonObject, ...(body !== undefined && { body }) };
}

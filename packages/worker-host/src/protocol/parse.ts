import { type CapabilityRequest, isKind, type JsonObject } from "@keyhole/kernel";
import { canonicalize } from "@keyhole/kernel/canonical";
import { protocolLimits } from "./limits.ts";
import type { GuestMessage, GuestOutcome, GuestRequest } from "./message.ts";
import { guarded, object, oneOf, optional, orUndefined, type Shape, text, variant, wrong } from "./shape.ts";

const { argumentsDepth, argumentsLength, bodyBytes, messageLength, nameLength, pieceBytes } = protocolLimits;

const line = text(messageLength);
const name = text(nameLength);
const id = text(64);
const anyText = text(Infinity);
const kind = guarded((value): value is string => typeof value === "string" && isKind(value));
const flag = guarded((value) => typeof value === "boolean");
const amount = guarded((value): value is number => typeof value === "number" && Number.isFinite(value));
const count = guarded((value): value is number => Number.isSafeInteger(value) && Number(value) >= 0);

/** Memory that is ours alone, of one size, and no more of it than the bytes: a view of one byte could hold on to a gigabyte. */
function ownBytes(least: number, most: number): Shape<Uint8Array> {
  return guarded(
    (value): value is Uint8Array =>
      value instanceof Uint8Array &&
      value.buffer instanceof ArrayBuffer &&
      !value.buffer.resizable &&
      value.buffer.byteLength === value.byteLength &&
      value.byteLength >= least &&
      value.byteLength <= most,
  );
}

type Output = Extract<GuestOutcome, { kind: "returned" }>["output"];

const output = variant<"form", Output>("form", {
  json: object({ form: oneOf(["json"]), text: anyText }),
  text: object({ form: oneOf(["text"]), text: anyText }),
  binary: object({ form: oneOf(["binary"]), bytes: ownBytes(0, Infinity) }),
  stream: object({ form: oneOf(["stream"]) }),
});

const outcome = variant<"kind", GuestOutcome>("kind", {
  returned: object({ kind: oneOf(["returned"]), output }),
  refused: object({ kind: oneOf(["refused"]), message: line }),
  threw: object({ kind: oneOf(["threw"]), name, message: line, code: optional(orUndefined(name)) }),
  unnormalizable: object({ kind: oneOf(["unnormalizable"]), reason: name, path: line, unchecked: optional(line) }),
  "too-large": object({ kind: oneOf(["too-large"]), what: oneOf(["output"]), limit: count, unchecked: optional(line) }),
});

const messages = variant<"type", GuestMessage>("type", {
  ready: object({ type: oneOf(["ready"]), imports: flag, wasm: flag }),
  loaded: object({ type: oneOf(["loaded"]) }),
  pong: object({ type: oneOf(["pong"]) }),
  "load-failed": object({ type: oneOf(["load-failed"]), name, message: line }),
  log: object({ type: oneOf(["log"]), callId: id, level: oneOf(["debug", "info", "warn", "error"]), message: line }),
  progress: object({
    type: oneOf(["progress"]),
    callId: id,
    done: amount,
    total: optional(amount),
    message: optional(line),
  }),
  request: object({
    type: oneOf(["request"]),
    callId: id,
    request: count,
    kind,
    operation: name,
    arguments: text(argumentsLength),
    body: optional(orUndefined(ownBytes(0, bodyBytes))),
  }),
  piece: object({ type: oneOf(["piece"]), callId: id, piece: count, bytes: ownBytes(1, pieceBytes) }),
  pull: object({ type: oneOf(["pull"]), callId: id }),
  outcome: object({ type: oneOf(["outcome"]), callId: id, outcome }),
});

/** Checks one message of a guest; the string says what is wrong with it. Never throws, and repeats nothing that the guest sent. */
export function parseGuestMessage(data: unknown): GuestMessage | string {
  if (typeof data !== "object" || data === null || !Object.hasOwn(data, "type")) return "a message without a type";
  // RPC carries the fields of errors and the like along.
  if (Object.getPrototypeOf(data) !== Object.prototype) return "a message that is not a plain object";
  const message = messages.read(data);
  if (message !== wrong) return message;
  return messages.knows(data)
    ? "a message with a missing, extra, wrong or oversized field"
    : "a message of unknown type";
}

/** The request that a message carries, its arguments now data; a string says what is wrong with them. */
export function parseRequest({ kind, operation, arguments: json, body }: GuestRequest): CapabilityRequest | string {
  let parsed: unknown;
  let named = true;
  try {
    parsed = JSON.parse(json, (key, value: unknown) => {
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

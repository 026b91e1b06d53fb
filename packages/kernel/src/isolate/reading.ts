import type { OwnRequest } from "../capability/request.ts";
import { isKind } from "../support/kind.ts";
import { bytesOf, fieldsOf, type Foreign, membersOf } from "../support/foreign.ts";
import type { JsonObject } from "../json/json.ts";
import { snapshot } from "../json/snapshot.ts";
import type { OwnUse } from "../tool/define.ts";
import { IsolateFailure, type IsolateOutcome, type IsolateOutput, type IsolateUsage } from "./port.ts";

/*
 * What comes from a host and its isolates, read once. A host checks the messages of its guests; the kernel does not rely on that check.
 */

const none = { kind: "", operation: "", arguments: {} } as const;

/** A request on its way to the gate, which refuses it where it has a fault. */
export function readRequest(foreign: Foreign<OwnRequest>): OwnRequest {
  try {
    const members = membersOf(foreign, "kind", "operation", "arguments", "body", "fault");
    const { kind, operation, arguments: asked, body, fault } = members;
    // The recorder of runs has read it before.
    if (typeof fault === "string") return { ...none, fault };
    if (typeof kind !== "string" || !isKind(kind) || typeof operation !== "string")
      return { ...none, fault: "The request has no kind and no operation." };
    const plain = snapshot(asked);
    if (!plain.ok) return { ...none, fault: `The request's arguments are not JSON: ${plain.error.message}.` };
    const request = { kind, operation, arguments: plain.value as JsonObject };
    if (body === undefined) return request;
    const bytes = bytesOf(body);
    return bytes ? { ...request, body: bytes } : { ...none, fault: "The request's body is not a Uint8Array." };
  } catch {
    return { ...none, fault: "The request is unreadable." };
  }
}

const ends: readonly unknown[] = [
  "refused",
  "threw",
  "unnormalizable",
  "too-large",
  "out-of-memory",
  "out-of-fuel",
  "lost",
] satisfies Exclude<IsolateOutcome["kind"], "returned">[];

/** @throws TypeError for what is no outcome: a bug of the host */
export function readOutcome(foreign: Foreign<IsolateOutcome>): IsolateOutcome {
  const own = fieldsOf(foreign);
  if (own.kind === "returned") return { kind: "returned", output: readOutput(own.output) };
  const isSound = ([name, value]: [string, unknown]): boolean =>
    value === undefined || typeof value === (name === "limit" ? "number" : name === "retryable" ? "boolean" : "string");
  if (ends.includes(own.kind) && Object.entries(own).every(isSound)) return own as IsolateOutcome;
  throw new TypeError("An isolate ended with a value that is not an outcome.");
}

function readOutput(foreign: Foreign<IsolateOutput | undefined>): IsolateOutput {
  const { form, text, bytes } = fieldsOf(foreign);
  if ((form === "json" || form === "text") && typeof text === "string") return { form, text };
  const own = form === "binary" ? bytesOf(bytes) : undefined;
  if (own) return { form: "binary", bytes: own };
  if (form === "stream") return { form };
  throw new TypeError("An isolate returned a value that is not an output.");
}

/** Reads the cost of a run; drops malformed numbers. */
export function readUsage(foreign: Foreign<IsolateUsage>): IsolateUsage {
  const { fuelUsed, peakMemoryBytes } = membersOf(foreign, "fuelUsed", "peakMemoryBytes");
  return { ...(isAmount(fuelUsed) && { fuelUsed }), ...(isAmount(peakMemoryBytes) && { peakMemoryBytes }) };
}

/** @throws TypeError for bytes that are no number from 0 */
export function readOwnUse(foreign: Foreign<OwnUse>): OwnUse {
  const { isRequest, bytes } = membersOf(foreign, "isRequest", "bytes");
  if (!isAmount(bytes)) throw new TypeError("A tool charges bytes that are no number from 0.");
  return { isRequest: isRequest === true, bytes };
}

const isAmount = (value: Foreign<number | undefined>): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const codes: readonly unknown[] = ["UNSUPPORTED_HOST", "ISOLATE_LOST", "TOOL_ERROR", "BOUNDS_EXCEEDED"];

/** Why an isolate did not open. Every other exception is a bug of the host, and stays as it is. */
export function readFailure(thrown: unknown): unknown {
  return thrown instanceof IsolateFailure ? ownFailure(thrown) : thrown;
}

function ownFailure(foreign: Foreign<IsolateFailure>): IsolateFailure {
  const { code, message, hints, blame } = membersOf(foreign, "code", "message", "hints", "blame");
  const { hint, operatorHint } = membersOf(hints, "hint", "operatorHint");
  if (typeof message !== "string" || !codes.includes(code))
    return new IsolateFailure("ISOLATE_LOST", "Its host failed.");
  const own = { ...(typeof hint === "string" && { hint }), ...(typeof operatorHint === "string" && { operatorHint }) };
  return new IsolateFailure(
    code as IsolateFailure["code"],
    message,
    own,
    blame === "host" || blame === "code" ? blame : "tool",
  );
}

import type { Limited } from "../../bounds/limiter.ts";
import { bringExplanations } from "../../capability/next-steps.ts";
import type { NormalizeError } from "../../json/normalize-error.ts";
import * as limits from "../../limits.ts";
import type { Hints, SetupError } from "../../result.ts";
import { shareOf } from "../../support/shares.ts";
import type { ValidationError } from "../../schema/index.ts";
import type { ToolSource } from "../../tool/manifest.ts";
import { nearest, unknownName } from "../../tool/nearest.ts";
import type { Unresolved } from "../../tool/registry.ts";
import type { TargetFault } from "../../tool/targets.ts";
import { errorDetails, explanation } from "./explanation.ts";
import type { FaultText } from "./fault-text.ts";
import { limitedHints, slotHints } from "./hints.ts";

/** Texts of calls that get no further than their options, their tool, their input or their slot. */

export const correctOptions = "Correct the options of the call.";

/** Of options in the wrong form. */
export const wrongOption: Readonly<
  Record<"object" | "unread" | "output" | "body" | "waitMs" | "key" | "signal" | "bounds", FaultText>
> = {
  object: { message: "The options are not a plain object. Pass a literal that owns its members." },
  unread: { message: "The options are unreadable." },
  output: { message: "`output` is not an unlocked WritableStream. Pass a stream that has no writer." },
  body: { message: "`body` is not an unlocked ReadableStream. Pass a stream that has no reader." },
  waitMs: { message: `\`waitMs\` is not an integer from 0 to ${limits.longestWaitMs}.` },
  key: { message: `\`idempotencyKey\` is not a string of 1 to ${limits.nameLength} characters.` },
  signal: { message: "`signal` is not an AbortSignal." },
  bounds: { message: "`bounds` is not an object." },
};

export function wrongType(name: string, type: string): FaultText {
  return { message: `\`${name}\` is not a ${type}.` };
}

export function unknownOption(name: string, known: readonly string[]): FaultText {
  const unknown = unknownName(name, known);
  return { message: `The options have no member \`${unknown.name}\`.`, hint: unknown.hint };
}

export function unknownBound(name: string): FaultText {
  const unknown = unknownName(name, Object.keys(limits.ceilings));
  return { message: `\`bounds\` has no member \`${unknown.name}\`.`, hint: unknown.hint };
}

export function wrongBound(name: string, least: number, ceiling: number): FaultText {
  return { message: `\`bounds.${name}\` is not an integer from ${least} to ${ceiling}.` };
}

export function wrongGrants(fault: string): FaultText {
  return { message: `The call's grants are invalid: ${fault}` };
}

export function notPlainOptions({ message }: NormalizeError): FaultText {
  const { values, characters } = limits.declaration;
  const most = `plain JSON data of at most ${values} values and ${characters} characters`;
  return { message: `The options are not ${most}: ${message}.` };
}

/** Questions that only an extension answers. */
export const unansweredTexts: Readonly<Record<"approval" | "idempotencyKey" | "suspension", FaultText>> = {
  approval: {
    message: "The policy asks for an approval, and this kernel has no approvals.",
    operatorHint: "Add approvals(approver) to `extensions`, or change the rule from ask to deny.",
  },
  idempotencyKey: {
    message: "Got the option `idempotencyKey`, expected none: this kernel remembers no keys.",
    operatorHint: "Add idempotency() to `extensions`, or omit the key for calls that may run twice.",
  },
  suspension: {
    message: "Got a snapshot of a suspended call, expected none: this kernel resumes no calls.",
    operatorHint: "Give the kernel callSuspender({ key }), with the key of the kernel that suspended the call.",
  },
};

export function notFound(name: string, unresolved: Unresolved): FaultText {
  const { nearest: close, ...text } = notFoundText(name, unresolved);
  return { ...text, details: { nearest: close } };
}

function notFoundText(
  name: string,
  unresolved: Unresolved,
): Partial<Hints> & { readonly message: string; readonly nearest: string[] } {
  switch (unresolved.why) {
    case "refused":
      return { ...refusedTool(name, unresolved.error), nearest: [] };
    case "unknown": {
      const { names, isNamed } = unresolved;
      const close = nearest(name, names, isNamed);
      const hint =
        close.length > 0
          ? `Did you mean ${close.join(", ")}?`
          : listed(names.toSorted().slice(0, mostAsked).filter(isNamed));
      return { message: `There is no tool ${quote(name)}.`, hint, nearest: [...close] };
    }
    case "range": {
      const message = `${quote(unresolved.range)} is not a version or range.`;
      return { message, hint: "Use 1.2.3, ^1.2.0, ~1.2.0 or 1.x.", nearest: [...unresolved.known] };
    }
    case "version": {
      const { range, known } = unresolved;
      const hint = known.length > 0 ? `Registered: ${known.join(", ")}.` : "";
      return { message: `${name} has no version ${quote(range)}.`, hint, nearest: [...known] };
    }
  }
}

function refusedTool(name: string, { code, message, path, hint }: SetupError): FaultText {
  return {
    message: `${quote(name)} was refused when it was registered: ${message}`,
    hint: "Use another tool.",
    operatorHint: `${code} at ${path || "the root"}. ${hint}`.trimEnd(),
  };
}

/** Tools that a hint can list if they allow it. */
const mostAsked = 200;
const mostListed = 20;

function listed(names: readonly string[]): string {
  return names.length > 0 ? `Registered: ${names.slice(0, mostListed).join(", ")}.` : "";
}

const quote = (text: string): string => JSON.stringify(text.slice(0, 100));

export function noStream(toolId: string, kind: string): FaultText {
  return { message: `${toolId} gives ${kind}, which is in the result: \`output\` takes streams.` };
}

export function noHost(source: ToolSource): FaultText {
  return {
    message: `No host of this kernel runs tools of source ${source}.`,
    operatorHint: hostHints[source] ?? "Give the kernel a host: browserHost(), edgeHost(), …",
  };
}

const hostHints: Partial<Record<ToolSource, string>> = {
  inline: "Give the kernel `inline: inlineHost()`, or register the tool as a package.",
  http: "Give the kernel a host: httpHost(), nodeHost(), browserHost({ http: true }), …",
};

export function unenforced(host: string, toolId: string, missing: readonly string[]): FaultText {
  return {
    message: `The host ${host} cannot enforce ${missing.join(", ")}, which ${toolId} or its caller relies on.`,
    details: { bounds: [...missing] },
    operatorHint: "Use a host that enforces them, or remove these bounds.",
  };
}

export function lacksBody(toolId: string): FaultText {
  return { message: `${toolId} takes a body: the option \`body\`, over HTTP application/octet-stream.` };
}

export function takesNoBody(toolId: string): FaultText {
  return { message: `${toolId} takes no body.` };
}

export const keyWithBody: FaultText = { message: "Calls with a body cannot use an idempotency key." };

export function notPlainInput({ message, path, reason }: NormalizeError): FaultText {
  return {
    message: `The input is not plain JSON data: ${explanation(message)}.`,
    details: [{ path: explanation(path), keyword: reason }],
    hint:
      reason === "too-large"
        ? `Send at most ${limits.nodes} values, with ${limits.members} members in all objects. Send large data as a file.`
        : "Send JSON: objects, arrays, strings, finite numbers, booleans and null.",
  };
}

export function wrongInput(errors: readonly ValidationError[]): FaultText {
  const { message = "", hint, keyword } = errors[0] ?? {};
  return {
    message: explanation(message),
    details: errors.map(errorDetails),
    ...(hint && { hint: explanation(hint) }),
    ...(keyword === "schema" && { operatorHint: bringExplanations }),
  };
}

export function wrongTarget({ at, message }: TargetFault): FaultText {
  return { message: explanation(message), details: [{ path: explanation(at), keyword: "target" }] };
}

export const largeInput: FaultText = {
  message: `The input is larger than ${limits.inputBytes} bytes.`,
  hint: "Send large data as a file.",
};

/** Of the caller's calls that wait or run. When one of them ends is unknown. */
export const inputsHeld: FaultText = {
  message: "The caller's calls in progress have too many bytes of arguments.",
  details: { bound: "heldInputBytes", limit: limits.heldInputBytes, retryAfterMs: 1_000 },
  hint: "Call again when another call has ended.",
  retryable: true,
};

export const cancelled: Readonly<Record<"starting" | "queued" | "running", FaultText>> = {
  starting: { message: "The caller cancelled before the tool started." },
  queued: { message: "The caller cancelled while the call waited for a free slot." },
  running: { message: "The caller cancelled the call." },
};

export function slotsHeld(toolId: string, limit: number): FaultText {
  return {
    message: `Calls that wait for this one hold every slot of ${toolId} that one caller can have.`,
    details: { bound: "concurrency", limit },
    ...slotHints,
  };
}

export function limited(toolId: string, reservation: Limited): FaultText {
  const { ok: _, ...details } = reservation;
  return {
    message: `${toolId} ${limitText(reservation)}.`,
    details,
    ...limitedHints(reservation),
    retryable: true,
  };
}

/** The state of a tool that refused a call, as a text. */
function limitText({ bound, limit }: Pick<Limited, "bound" | "limit">): string {
  const calls = `${limit} call${limit === 1 ? "" : "s"}`;
  if (bound === "callsPerHour") return `takes ${calls} an hour`;
  return bound === "concurrency"
    ? `runs ${calls} at the same time${limit > 1 ? `, at most ${shareOf(limit)} of one caller` : ""}, and no slot became free`
    : `has a queue of ${calls}, and the queue is full`;
}

import type { BodyFault } from "../../isolate/body.ts";
import type { RunEnd } from "../../isolate/run.ts";
import type { JsonObject } from "../../json/json.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import * as limits from "../../limits.ts";
import { explanation } from "./explanation.ts";
import type { FaultText } from "./fault-text.ts";
import { hasRun, lessInOneCall, programsFault, raiseBound, toolsFault } from "./hints.ts";

/** Texts of runs without an output. */

/** The error of a refused output: its tool has run, so that no hint says to call again. The caller of a program wrote it. */
export function refusedOutput(text: FaultText, { manifest }: RegisteredTool, value: unknown): FaultText {
  const { details = {}, hint = toolsFault } = text;
  const shown = typeof value === "string" ? value : value instanceof Uint8Array ? undefined : JSON.stringify(value);
  const unchecked = shown === undefined ? {} : { unchecked: explanation(shown) };
  return {
    ...text,
    hint: `${hasRun} ${manifest.program === undefined ? hint : programsFault}`,
    details: { ...(details as JsonObject), ...unchecked },
  };
}

export function notNormalizable(toolId: string, reason: string, path: string): FaultText {
  const place = path === "" ? "" : ` at ${path.slice(0, 200)}`;
  const what =
    reason === "syntax"
      ? "text that is not JSON"
      : reason === "detached"
        ? "bytes in a detached buffer"
        : reason === "too-large"
          ? `more than ${limits.nodes} values, or more than ${limits.members} members in all objects`
          : `something that is not plain data: ${reason}`;
  return { message: `${toolId} returned ${what}${place}.`, details: { reason, path: explanation(path) } };
}

export function refusedInput(toolId: string, message: string): FaultText {
  return { message: `${toolId} refused the input: ${message}` };
}

export function threw(toolId: string, { message, name }: Extract<RunEnd, { kind: "threw" }>): FaultText {
  return {
    message: message || `${toolId} threw without a message.`,
    details: { name },
    operatorHint:
      name === "ReferenceError" ? "A tool has no globals of its host; `execute` gets a context instead." : "",
  };
}

export function lostIsolate(toolId: string, reason: string): FaultText {
  return { message: `The isolate of ${toolId} was lost: ${reason}.` };
}

export function timedOut(toolId: string, timeoutMs: number, opening: boolean): FaultText {
  return {
    message: opening
      ? `${toolId} did not start within ${timeoutMs} ms: no isolate was ready for it.`
      : `${toolId} did not finish within ${timeoutMs} ms and was stopped.`,
  };
}

/** The fault of the caller's stream, also if the tool handled it. */
export function badBody({ reason, message = "" }: BodyFault, limit: number): FaultText {
  switch (reason) {
    case "too-large":
      return {
        message: `The body has more than ${limit} bytes.`,
        details: { bound: "bodyBytes", limit },
        hint: "Send less.",
        operatorHint: raiseBound("bodyBytes"),
      };
    case "not-bytes":
      return { message: "The body's stream contains a chunk that is not a non-empty Uint8Array." };
    case "failed":
      return { message: `The caller's body failed: ${explanation(message)}` };
  }
}

/** The output is withheld as well: a call that begins now gives none. */
export function stopped(toolId: string, why: string): FaultText {
  return {
    message: `${toolId} was stopped while it ran. ${why}`,
    hint: "Tell the user which effects the call had. Do not repeat it.",
    operatorHint: "Lift the mode or the revocation for later calls.",
  };
}

export function usedUp(toolId: string, bound: "fuel" | "memoryBytes", limit: number | undefined): FaultText {
  const amount = limit === undefined ? "" : ` of ${limit}`;
  return {
    message: `${toolId} used up its ${bound}${amount}.`,
    ...(limit !== undefined && { details: { bound, limit } }),
    operatorHint: raiseBound(bound),
  };
}

export const tooMuch: Readonly<
  Record<Extract<RunEnd, { kind: "too-large" }>["what"], (toolId: string, limit: number) => FaultText>
> = {
  output: (toolId, limit) => ({
    message: `${toolId} returned more than ${limit} bytes.`,
    details: { bound: "outputBytes", limit },
    hint: lessInOneCall,
    operatorHint: raiseBound("outputBytes"),
  }),
  messages: (toolId, limit) => ({
    message: `${toolId} sent more than ${limit} messages.`,
    details: { bound: "messages", limit },
  }),
  stack: (toolId, limit) => ({
    message: `The calls of ${toolId} nest too deeply: its stack has ${limit} bytes.`,
    details: { bound: "stack", limit },
    hint: "Send an input that nests less deeply, or use another tool.",
    operatorHint: "Correct the tool: a recursion has no end, or goes too deep.",
  }),
};

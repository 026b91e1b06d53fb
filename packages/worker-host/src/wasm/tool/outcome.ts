import type { IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import { boundedMessage } from "@keyhole/kernel/guest";
import type { RunBounds, RunEnding } from "../machine/machine.ts";
import { MAX_STACK_BYTES } from "../meter/fuel-global.ts";
import type { Collected } from "../wasi/streams.ts";

/** The last run of a call. */
export interface EndedRun {
  readonly ending: Exclude<RunEnding, { kind: "unanswered" }>;
  readonly stdout: Collected;
  /** The end of what it wrote to its standard error output. */
  readonly errors: string;
  /** The code of its last request's refusal. A program that stops because of one is believed that it did. */
  readonly refused: string | undefined;
}

/** The outcome of a run. Engines describe a trap differently; the texts here are equal everywhere. */
export function outcomeOf(
  { ending, stdout, errors, refused }: EndedRun,
  call: IsolateCall,
  bounds: RunBounds,
): IsolateOutcome {
  const threw = (name: string, what: string): IsolateOutcome => {
    const message = boundedMessage(what);
    return { kind: "threw", name, message, ...(refused !== undefined && { code: refused }) };
  };
  switch (ending.kind) {
    case "returned":
      return outputOf(ending.output, call);
    case "exited":
      if (ending.code === 0) return outputOf(stdout.bytes(), call);
      return threw("ExitCode", `It exited with ${ending.code}${behind(errors)}`);
    case "failed":
      return threw("Error", ending.message);
    case "trapped":
      return threw("Trap", `It trapped${behind(errors)}`);
    default:
      return boundOutcome(ending, call.outputBytes, bounds);
  }
}

/** A run that reached one of its bounds. */
export function boundOutcome(
  { kind }: Extract<RunEnding, { kind: "output-too-large" | "too-deep" | "out-of-fuel" | "out-of-memory" }>,
  outputBytes: number,
  { fuel, memoryBytes }: RunBounds,
): IsolateOutcome {
  switch (kind) {
    case "output-too-large":
      return { kind: "too-large", what: "output", limit: outputBytes };
    case "too-deep":
      return { kind: "too-large", what: "stack", limit: MAX_STACK_BYTES };
    case "out-of-fuel":
      return { kind, limit: fuel };
    case "out-of-memory":
      return { kind, limit: memoryBytes };
  }
}

const behind = (errors: string): string => (errors === "" ? "." : `: ${errors}`);

function outputOf(bytes: Uint8Array, { outputKind }: IsolateCall): IsolateOutcome {
  if (outputKind === "binary") return { kind: "returned", output: { form: "binary", bytes } };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: "returned", output: { form: outputKind, text } };
  } catch {
    return { kind: "unnormalizable", reason: "not-utf8", path: "" };
  }
}

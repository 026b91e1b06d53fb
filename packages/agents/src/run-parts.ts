import { membersOf } from "@keyhole/kernel/foreign";
import type { AgentAnswer } from "./answer.ts";

/** The budget of a run, of each kind. Default: no limit. */
export interface RunBudget {
  /**
   * Tokens of the model, read and written, as the provider reports them, and at least one for 16 characters that the model writes. The step that passes the budget is the last. An answer
   * without end is cut. A step without a report costs one token for 16 characters that the model read or wrote.
   */
  readonly tokens?: number;
  /**
   * Fuel of the calls, where their host counts it. A program can use the rest for itself and once more for the calls within it: the sum stays below twice
   * the budget. Where the program's host counts none, the program ends with the call within it that used up the rest. A call that ends without a count, as one that is stopped, costs the rest.
   */
  readonly fuel?: number;
  /** Calls that the model asks for, and calls within them, such as those of a program. Further ones are refused. */
  readonly calls?: number;
}

export type RunSpent = Required<RunBudget>;

/**
 * The end of a turn: the model answered, a person stopped it, the kernel is in LOCKDOWN, or the run
 * used up a budget. `steps`: the turn had all its steps. `failed`: the model did not respond.
 */
export type RunEnd = "answered" | "stopped" | "lockdown" | keyof RunBudget | "steps" | "failed";

/** A part of `stream` of AI SDK 7, as far as it is read. */
export interface StreamPart {
  readonly type: string;
  readonly text?: unknown;
  readonly delta?: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
  /** Progress, and the result before it is the last. */
  readonly preliminary?: unknown;
  readonly error?: unknown;
  readonly usage?: unknown;
}

/** An event of a turn. */
export type RunPart =
  /** A piece of what the model says. */
  | { readonly type: "text"; readonly text: string }
  /** The model asks for a call. `id` is the framework's; the log has it as `correlationId`. */
  | { readonly type: "call"; readonly id: string; readonly tool: string; readonly input: unknown }
  | { readonly type: "answer"; readonly id: string; readonly answer: AgentAnswer }
  /** The call did not reach the kernel: there is no such tool, or the arguments are not JSON. The model gets the reason. */
  | { readonly type: "refused"; readonly id: string; readonly tool: string; readonly reason: string }
  | { readonly type: "spent"; readonly spent: RunSpent }
  | { readonly type: "end"; readonly end: RunEnd; readonly reason?: string };

interface ReadPart {
  readonly part?: RunPart;
  /** A step ended, which used as many. */
  readonly tokens?: number;
  /** That the model wrote: a text, a thought or arguments. */
  readonly characters?: number;
}

export function readPart(given: StreamPart): ReadPart {
  const { type, text, delta, toolCallId, toolName, input, output, preliminary, error, usage } = given;
  const [id, tool] = [String(toolCallId), String(toolName)];
  switch (type) {
    case "text-delta":
      return { part: { type: "text", text: String(text) }, characters: lengthOf(text) };
    case "reasoning-delta":
      return { characters: lengthOf(text) };
    case "tool-input-delta":
      return { characters: lengthOf(delta) };
    case "tool-call":
      return { part: { type: "call", id, tool, input } };
    case "tool-result":
      return preliminary !== true && isAnswer(output) ? { part: { type: "answer", id, answer: output } } : {};
    case "tool-error":
      return { part: { type: "refused", id, tool, reason: messageOf(error) } };
    case "finish-step":
      return { tokens: tokensOf(usage) };
    case "error":
      return { part: { type: "end", end: "failed", reason: messageOf(error) } };
    default:
      return {};
  }
}

/** An empty piece counts as well: a stream of them has no end either. */
function lengthOf(text: unknown): number {
  return Math.max(1, typeof text === "string" ? text.length : 0);
}

/** Progress has no `ok`. */
function isAnswer(output: unknown): output is AgentAnswer {
  return typeof output === "object" && output !== null && "ok" in output;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A provider that counts nothing leaves it out. */
export function tokensOf(usage: unknown): number {
  const { totalTokens, inputTokens, outputTokens } = membersOf(usage);
  const total = amount(totalTokens);
  return total > 0 ? total : amount(inputTokens) + amount(outputTokens);
}

function amount(given: unknown): number {
  return typeof given === "number" && Number.isFinite(given) && given > 0 ? given : 0;
}

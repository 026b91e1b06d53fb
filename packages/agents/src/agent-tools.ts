import type {
  CallError,
  CallFailure,
  CallOptions,
  CallSuccess,
  JsonObject,
  Progress,
  ToolFilter,
  ToolManifest,
  ToolSummary,
} from "@keyhole/kernel";
import type { AgentAnswer } from "./answer.ts";
import { type AgentQuestion, FrameworkApprovals, type FrameworkYes } from "./framework-approvals.ts";
import {
  answerBytesOf,
  type ContextBudget,
  definitionWithin,
  errorWithin,
  HeldInput,
  HeldOutput,
  KeptResults,
  type OutputSource,
  readResult,
  readResultManifest,
  readResultName,
} from "@keyhole/kernel/context";
import { type JsonTextFault, jsonTextFault, knownOptions, type OptionNames } from "@keyhole/kernel/foreign";

type MaybePromise<Value> = Value | Promise<Value>;

/** Of a proof: the grants and the policy that decided about the requests of a call. */
type AuthorityOfProof = NonNullable<OutputSource["proof"]>;

/** The part of a call's result that an agent reads. A `CallResult` has it. */
export type AgentResult = AgentSuccess | AgentFailure;

type AgentSuccess = Pick<CallSuccess, "ok" | "data" | "hash" | "callId"> & Authority;
type AgentFailure = Pick<CallFailure, "ok" | "error" | "callId"> & Authority;

/** The kinds and the decision behind a result. */
type Authority = Partial<Pick<CallSuccess, "effects">> & { readonly proof?: AuthorityOfProof };

/** The part of a preview that an agent reads. A `Preview` has it. */
export type AgentPreview =
  | { readonly decision: "allow"; readonly proof?: AuthorityOfProof; readonly revoked?: readonly string[] }
  | {
      readonly decision: "ask";
      readonly proof?: AuthorityOfProof;
      readonly revoked?: readonly string[];
      readonly question: AgentQuestion & { readonly reason: string };
    }
  | {
      readonly decision: "deny";
      readonly proof?: AuthorityOfProof;
      readonly revoked?: readonly string[];
      readonly error: CallError;
    };

/** The part of a kernel that an agent uses. A `Kernel` has it, and so has a page's `KernelClient`. */
export interface AgentKernel {
  list(filter?: ToolFilter): MaybePromise<readonly ToolSummary[]>;
  call(tool: string, input: unknown, options?: CallOptions): Promise<AgentResult>;
  preview(tool: string, input: unknown, options?: CallOptions): Promise<AgentPreview>;
}

/** How an agent calls the tools of a kernel. */
export interface AgentOptions extends Pick<CallOptions, "caller" | "sessionId" | "grants">, ContextBudget {
  /** Names of the tools to show. Default: every tool that the caller could ever be allowed to call. */
  readonly tools?: readonly string[];
  /** The person who answers the framework's approval requests, as proofs and log name them. Default `user`. */
  readonly approver?: string;
  /** By name of a tool: its budget, in place of the budget of all tools. */
  readonly budgets?: Readonly<Record<string, ContextBudget>>;
  readonly onProgress?: (tool: string, progress: Progress) => void;
}

export interface AgentCall {
  /** The call as its framework's approvals know it. An id that comes again is another call: some models number the calls of each message from zero. */
  readonly id?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The approval of a person through the framework. It counts for that one question: not for other arguments, not twice, and not for calls within. */
  readonly approved?: FrameworkYes | undefined;
  readonly onProgress?: (progress: Progress) => void;
}

export interface AgentTool {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  /** A copy of the framework's own: some write into schemas. */
  readonly inputSchema: JsonObject;
  readonly manifest: ToolManifest;
  /**
   * Why a person has to approve the call; `undefined` where the call needs no approval. Runs nothing, and is not on record.
   *
   * @param id the framework's id of the call: a yes `asked` under it answers this question
   */
  question(input: unknown, id?: string): Promise<string | undefined>;
  /** Runs the tool. Never rejects for what a tool, a policy or a model did wrong. */
  call(input: unknown, call?: AgentCall): Promise<AgentAnswer>;
}

const budgetOptions = { definitionBytes: 1, answerBytes: 1 } as const;
export const agentOptions: OptionNames<AgentOptions> = {
  ...budgetOptions,
  caller: true,
  sessionId: true,
  grants: true,
  tools: true,
  approver: true,
  budgets: true,
  onProgress: true,
};

/**
 * The tools of a kernel for one agent: the highest version of each name, sorted by name, in one session. `read_result`, which reads on in long answers, is the last.
 *
 * @param more options of the adapter itself
 * @throws TypeError for a name in the options that the kernel does not list, and for an unknown option. Also for a budget that cannot be kept, and
 *   for a tool of the kernel with the name `read_result`
 */
export async function agentTools(
  kernel: AgentKernel,
  given: AgentOptions = {},
  more: Readonly<Record<string, true>> = {},
): Promise<readonly AgentTool[]> {
  const options = knownOptions(given, { ...agentOptions, ...more }, "An agent");
  for (const [name, budget] of Object.entries(options.budgets ?? {}))
    knownOptions(budget, budgetOptions, `The budget of ${name}`);
  const { caller, tools, sessionId = crypto.randomUUID() } = options;
  const listed = await kernel.list(caller === undefined ? {} : { caller });
  const highest = new Map<string, ToolSummary>();
  for (const tool of listed) if (!highest.has(tool.manifest.name)) highest.set(tool.manifest.name, tool);
  const named = [...(tools ?? []), ...Object.keys(options.budgets ?? {})];
  const missing = named.find((name) => !highest.has(name) && name !== readResultName);
  if (missing !== undefined)
    throw new TypeError(`The kernel lists no tool ${JSON.stringify(missing)} for this caller.`);
  const kept = new KeptResults<HeldOutput<unknown>>();
  const shown = [...highest.values()].filter(({ manifest }) => tools?.includes(manifest.name) ?? true);
  // Long answers send their model to this name: a tool of the kernel under it would write their rest.
  if (shown.some(({ manifest }) => manifest.name === readResultName))
    throw new TypeError(
      `The kernel has a tool named ${readResultName}, which is the name of an agent's own reader. Unregister the tool, or leave it out by \`tools\`.`,
    );
  const own = shown.map((tool) => toolOf(kernel, tool, { ...options, sessionId }, kept));
  return own.length === 0 ? own : [...own, readerOf(kept, options)];
}

function budgetOf(name: string, { budgets = {}, ...common }: AgentOptions): ContextBudget {
  return { ...common, ...(Object.hasOwn(budgets, name) && budgets[name]) };
}

/** The definition of a tool for a model, within the budget of the tool. */
function shownAs(manifest: ToolManifest, budget: ContextBudget): Omit<AgentTool, "question" | "call"> {
  const { name, title, description, input } = manifest;
  return { title, manifest, ...definitionWithin({ name, description, inputSchema: structuredClone(input) }, budget) };
}

function readerOf(kept: KeptResults<HeldOutput<unknown>>, options: AgentOptions): AgentTool {
  const budget = budgetOf(readResultName, options);
  const answerBytes = answerBytesOf(budget);
  return {
    ...shownAs(readResultManifest, budget),
    question: async () => undefined,
    call: (input) => readResult(kept, input, answerBytes),
  };
}

function toolOf(
  kernel: AgentKernel,
  { manifest }: ToolSummary,
  options: AgentOptions,
  kept: KeptResults<HeldOutput<unknown>>,
): AgentTool {
  const { name, output } = manifest;
  const mayCall = manifest.capabilities.some(({ kind }) => kind === "tool.call");
  const { onProgress } = options;
  const budget = budgetOf(name, options);
  const answerBytes = answerBytesOf(budget);
  const common = callerOf(options);
  const questionOf = async (tool: string, asked: unknown) => {
    const preview = await kernel.preview(tool, asked, common);
    return preview.decision === "ask" ? preview.question : undefined;
  };
  const approvals = new FrameworkApprovals(name, questionOf, options.approver ?? "user");
  const call: AgentTool["call"] = async (input, given = {}) => {
    const { signal } = given;
    const heldInput = new HeldInput(input);
    const result = await kernel.call(name, input, {
      ...common,
      ...(signal && { signal }),
      ...(await approvals.optionsOf(input, given)),
      onProgress(progress) {
        given.onProgress?.(progress);
        onProgress?.(name, progress);
      },
    });
    const { callId, proof, effects } = result;
    const preview: OutputSource["preview"] = (again) => kernel.preview(name, again, common);
    const source: OutputSource = { callId, proof, effects, mayCall, input: heldInput, preview };
    const textOf = ({ data, hash }: AgentSuccess) =>
      kept.textOf({ data, hash, mediaType: output.mediaType }, answerBytes, new HeldOutput(undefined, 0, source));
    return result.ok ? answerOf(result, output.mediaType, textOf(result)) : failureOf(result, answerBytes, input);
  };
  return {
    ...shownAs(manifest, budget),
    question: async (input, id) => (await approvals.ask(input, id))?.reason,
    call,
  };
}

/** For whom each call and preview of a tool is made. */
function callerOf({ caller, sessionId, grants }: AgentOptions) {
  return {
    ...(caller !== undefined && { caller }),
    ...(sessionId !== undefined && { sessionId }),
    ...(grants !== undefined && { grants }),
  };
}

function answerOf({ data, hash, callId }: AgentSuccess, mediaType: string | undefined, text: string): AgentAnswer {
  return { ok: true, data, ...(mediaType !== undefined && { mediaType }), hash, callId, text };
}

/** The kinds that the call used are part of the text: an error alone reads as if nothing happened. */
function failureOf({ error, callId, effects = [] }: AgentFailure, answerBytes: number, input: unknown): AgentAnswer {
  const { code, details, retryable, hint } = error;
  const fault = typeof input === "string" ? jsonOf(input).fault : undefined;
  const message = fault?.message ?? error.message;
  const done = effects.length > 0 ? { effects } : {};
  const { length } = JSON.stringify(done);
  const told = errorWithin({ code, message, details, retryable, hint }, answerBytes - length);
  return { ok: false, error: told, callId, ...done, text: JSON.stringify({ error: told, ...done }) };
}

/**
 * Arguments as a model writes them: JSON text, or data already. Text that is not JSON, or of which two readers take two values, stays text, and
 * the kernel refuses it.
 */
export function argumentsOf(input: unknown): unknown {
  if (typeof input !== "string") return input;
  const { value = input } = jsonOf(input.trim() || "{}");
  return value;
}

function jsonOf(text: string): { readonly value?: unknown; readonly fault?: JsonTextFault } {
  try {
    const value: unknown = JSON.parse(text);
    const fault = jsonTextFault(text);
    return fault ? { fault } : { value };
  } catch {
    return {};
  }
}

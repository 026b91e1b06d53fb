import type {
  Approver,
  CallOptions,
  CallResult,
  JsonObject,
  JsonValue,
  ModelError,
  Preview,
  Progress,
  ToolFilter,
  ToolManifest,
  ToolSummary,
} from "@keyhole/kernel";
import { textForModel } from "./text-for-model.ts";

type MaybePromise<Value> = Value | Promise<Value>;

/** The part of a kernel that an agent uses. A `Kernel` has it, and so has a page's `KernelClient`. */
export interface AgentKernel {
  list(filter?: ToolFilter): MaybePromise<readonly ToolSummary[]>;
  call(tool: string, input: unknown, options?: CallOptions): Promise<CallResult>;
  preview(tool: string, input: unknown, options?: CallOptions): Promise<Preview>;
}

/** How an agent calls the tools of a kernel. */
export interface AgentOptions extends Pick<CallOptions, "caller" | "sessionId" | "grants"> {
  /** Names of the tools to show. Default: every tool that the caller could ever be allowed to call. */
  readonly tools?: readonly string[];
  /** The person who answers the framework's approval requests, as proofs and log name them. Default `user`. */
  readonly approver?: string;
  /** The longest text of an answer that the model gets, in UTF-8 bytes. A longer one is cut, with its digest. Default 65,536. */
  readonly answerBytes?: number;
  readonly onProgress?: (tool: string, progress: Progress) => void;
}

/** What became of a call, for a program and for its model. `text` is what a model reads of it. */
export type AgentAnswer =
  | {
      readonly ok: true;
      readonly data: JsonValue | Uint8Array;
      /** Of bytes, where the tool names one. */
      readonly mediaType?: string;
      readonly hash: string;
      readonly callId: string;
      readonly text: string;
    }
  | { readonly ok: false; readonly error: ModelError; readonly callId: string; readonly text: string };

export interface AgentCall {
  /** The framework's id of the call. The same id with the same input runs once, however often the framework asks. */
  readonly id?: string;
  readonly signal?: AbortSignal | undefined;
  /** Whether a person approved this call through the framework. */
  readonly isApproved?: boolean;
  readonly onProgress?: (progress: Progress) => void;
}

export interface AgentTool {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  /** A copy of the framework's own: some write into schemas. */
  readonly inputSchema: JsonObject;
  readonly manifest: ToolManifest;
  /** Why a person has to approve the call; `undefined` where nobody has to. Runs nothing, and is not on record. */
  question(input: unknown): Promise<string | undefined>;
  /** Runs the tool. Never rejects for what a tool, a policy or a model did wrong. */
  call(input: unknown, call?: AgentCall): Promise<AgentAnswer>;
}

/** Answers that are kept for a framework that asks for one call twice. */
const keptCalls = 1_000;

/** The tools of a kernel for one agent: the highest version of each name, sorted by name, in one session. */
export async function agentTools(kernel: AgentKernel, options: AgentOptions = {}): Promise<readonly AgentTool[]> {
  const { caller, tools, sessionId = crypto.randomUUID() } = options;
  const listed = await kernel.list(caller === undefined ? {} : { caller });
  const highest = new Map<string, ToolSummary>();
  for (const tool of listed) if (!highest.has(tool.manifest.name)) highest.set(tool.manifest.name, tool);
  const missing = tools?.find((name) => !highest.has(name));
  if (missing !== undefined)
    throw new TypeError(`The kernel lists no tool ${JSON.stringify(missing)} for this caller.`);
  const shown = [...highest.values()].filter(({ manifest }) => tools?.includes(manifest.name) ?? true);
  return shown.map((tool) => toolOf(kernel, tool, { ...options, sessionId }));
}

function toolOf(kernel: AgentKernel, { manifest }: ToolSummary, options: AgentOptions): AgentTool {
  const { name, title, description, output } = manifest;
  const { caller, sessionId, grants, onProgress, answerBytes = 65_536 } = options;
  const common = {
    ...(caller !== undefined && { caller }),
    ...(sessionId !== undefined && { sessionId }),
    ...(grants !== undefined && { grants }),
  };
  const run = async (input: unknown, { signal, isApproved, ...call }: AgentCall): Promise<AgentAnswer> => {
    const result = await kernel.call(name, input, {
      ...common,
      ...(signal && { signal }),
      ...(isApproved === true && { approver: approvedBy(options.approver ?? "user") }),
      onProgress(progress) {
        call.onProgress?.(progress);
        onProgress?.(name, progress);
      },
    });
    return answerOf(result, output.mediaType, answerBytes);
  };
  return {
    name,
    title,
    description,
    inputSchema: structuredClone(manifest.input),
    manifest,
    async question(input) {
      const preview = await kernel.preview(name, input, common);
      return preview.decision === "ask" ? preview.question.reason : undefined;
    },
    call: once(run),
  };
}

/** A yes to the one call that the framework's person saw. The kernel still refuses a person whom the policy does not name. */
function approvedBy(approver: string): Approver {
  return async () => ({ answer: "allow", scope: "once", approver });
}

type Run = (input: unknown, call: AgentCall) => Promise<AgentAnswer>;

function once(run: Run): AgentTool["call"] {
  const kept = new Map<string, { readonly input: string; readonly answer: Promise<AgentAnswer> }>();
  return async (input, call = {}) => {
    const { id } = call;
    if (id === undefined) return run(input, call);
    const text = JSON.stringify(input) ?? "";
    const before = kept.get(id);
    if (before?.input === text) return before.answer;
    const answer = run(input, call);
    kept.set(id, { input: text, answer });
    const [oldest] = kept.keys();
    if (kept.size > keptCalls && oldest !== undefined) kept.delete(oldest);
    return answer;
  };
}

function answerOf(result: CallResult, mediaType: string | undefined, answerBytes: number): AgentAnswer {
  const { callId } = result;
  if (!result.ok) {
    const { code, message, details, retryable, hint } = result.error;
    const error: ModelError = { code, message, details, retryable, hint };
    return { ok: false, error, callId, text: JSON.stringify({ error }) };
  }
  const { data, hash } = result;
  const text = textForModel({ data, hash, mediaType }, answerBytes);
  return { ok: true, data, ...(mediaType !== undefined && { mediaType }), hash, callId, text };
}

/** Arguments as a model writes them: JSON text, or data already. Text that is not JSON stays text, and the kernel refuses it. */
export function argumentsOf(input: unknown): unknown {
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input === "" ? "{}" : input) as unknown;
  } catch {
    return input;
  }
}

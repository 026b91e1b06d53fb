import { type CallError, type CallOptions, readVersionedId } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import { type AgentKernel, type AgentOptions, agentOptions, type AgentResult } from "./agent-tools.ts";
import { type AiSdkTool, aiSdkTools } from "./ai-sdk.ts";
import { AnswerTokens } from "./answer-tokens.ts";
import { CallsWithin } from "./calls-within.ts";
import {
  readPart,
  tokensOf,
  type RunBudget,
  type RunEnd,
  type RunPart,
  type RunSpent,
  type StreamPart,
} from "./run-parts.ts";

export type { AgentKernel, RunBudget, RunEnd, RunPart, RunSpent };

/** The framework's stream of one turn. `streamText` of AI SDK 7 does. */
export interface RunStream<Message> {
  readonly stream: AsyncIterable<StreamPart>;
  readonly responseMessages: PromiseLike<readonly Message[]>;
}

/** Options of `streamText`. */
export interface RunRequest<Message> {
  readonly messages: Message[];
  readonly tools: Record<string, AiSdkTool>;
  readonly stopWhen: (done: { readonly steps: readonly { readonly usage: unknown }[] }) => boolean;
  readonly prepareStep: (before: { readonly responseMessages: readonly Message[] }) => undefined;
  readonly abortSignal: AbortSignal;
  readonly onError: () => void;
  /** One call after the other: each may use what the one before left. */
  readonly toolCallConcurrency: number;
}

/** A kernel whose results say what a call used. A `Kernel` has it, and so has `connectEdge`. */
export interface RunKernel extends AgentKernel {
  call(tool: string, input: unknown, options?: CallOptions): Promise<AgentResult & CallReport>;
}

interface CallReport {
  readonly meta?: { readonly fuelUsed?: number; readonly attempts?: number };
  readonly proof?: { readonly mode?: string; readonly reasonCode?: string };
}

export interface RunOptions<Message> extends AgentOptions {
  /** Asks the model: `(request) => streamText({ model, ...request })`. */
  readonly ask: (request: RunRequest<Message>) => RunStream<Message>;
  readonly kernel: RunKernel;
  readonly budget?: RunBudget;
  /** The most steps of one turn; a step is an answer of the model with the calls in it. Default 20. */
  readonly steps?: number;
}

const runOptions = { ...agentOptions, ask: true, kernel: true, budget: true, steps: 1 } as const;

interface Turn {
  readonly controller: AbortController;
  end: RunEnd | undefined;
}

/**
 * An agent at work: turns of one conversation in one session and one trace, under one budget. The kernel's own approver answers where the policy asks. `keyhole init agent` writes a project around it.
 *
 * @example
 * const run = new AgentRun<ModelMessage>({ kernel, ask: (request) => streamText({ model, ...request }), budget: { calls: 25 } });
 * for await (const part of run.send({ role: "user", content: "Sort my notes." })) show(part);
 */
export class AgentRun<Message> {
  /** W3C Trace Context that all calls of the run have. */
  readonly traceparent: string = newTrace();
  readonly sessionId: string;
  readonly #options: Omit<RunOptions<Message>, "budget">;
  readonly #budget: RunBudget;
  readonly #spent = { tokens: 0, fuel: 0, calls: 0 };
  readonly #messages: Message[] = [];
  /** The framework's id of each call, by the input that the kernel is given. */
  readonly #ids = new WeakMap<object, string>();
  /** By tool: whether its host counts fuel. Elsewhere a bound of fuel is refused. */
  readonly #counted = new Map<string, boolean>();
  /** Tools that call tools. */
  readonly #callers = new Set<string>();
  /** Under a budget of fuel calls wait for each other, also where the framework does not make them. */
  #lastCall: Promise<unknown> = Promise.resolve();
  #turn: Turn | undefined;

  constructor(options: RunOptions<Message>) {
    const { budget = {}, ...known } = knownOptions(options, runOptions, "AgentRun");
    const names = { tokens: 0, fuel: 0, calls: 0 } as const;
    this.#options = known;
    this.#budget = knownOptions(budget, names, "The budget of AgentRun");
    this.sessionId = known.sessionId ?? crypto.randomUUID();
  }

  get spent(): RunSpent {
    return { ...this.#spent };
  }

  /** The conversation, as the model gets it. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /**
   * One turn: the texts and calls of the model, until it has answered. The last part says why it ended. A reader that leaves stops the turn.
   *
   * @throws TypeError while another turn is in progress
   */
  async *send(message: Message): AsyncGenerator<RunPart> {
    if (this.#turn) throw new TypeError("A turn is under way. Await its end, or stop it.");
    const turn: Turn = { controller: new AbortController(), end: this.#usedUp() };
    this.#turn = turn;
    try {
      if (turn.end === undefined) yield* this.#answer(message, turn);
      yield { type: "end", end: turn.end ?? "answered" };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      yield turn.end === undefined ? { type: "end", end: "failed", reason } : { type: "end", end: turn.end };
    } finally {
      turn.controller.abort();
      this.#turn = undefined;
    }
  }

  /** Ends the turn in progress, the model and the calls. @param why `lockdown`: the person locked the kernel */
  stop(why: "stopped" | "lockdown" = "stopped"): void {
    if (!this.#turn) return;
    this.#turn.end ??= why;
    this.#turn.controller.abort();
  }

  async *#answer(message: Message, turn: Turn): AsyncGenerator<RunPart> {
    const { ask, steps = 20 } = this.#options;
    const tools = await this.#tools();
    const before = this.#spent.tokens;
    let told: readonly Message[] = [];
    this.#messages.push(message);
    const answer = new AnswerTokens(this.#messages);
    const { stream, responseMessages } = ask({
      messages: [...this.#messages],
      tools,
      abortSignal: turn.controller.signal,
      toolCallConcurrency: 1,
      onError: () => {},
      prepareStep: ({ responseMessages: finished }) => answer.begin((told = finished)),
      // The framework asks before this code reads the report of the step.
      stopWhen: ({ steps: done }) => {
        const reported = before + done.reduce((sum, { usage }) => sum + tokensOf(usage), 0);
        const tokens = Math.max(this.#spent.tokens, reported);
        turn.end ??= this.#usedUp({ ...this.#spent, tokens }) ?? (done.length >= steps ? "steps" : undefined);
        return turn.end !== undefined;
      },
    });
    // It rejects after a stop of the turn: then the ended steps count.
    const said = Promise.resolve(responseMessages).catch(() => undefined);
    try {
      for await (const each of stream) {
        const { part, tokens, characters = 0 } = readPart(each);
        answer.write(characters);
        if (tokens !== undefined) {
          this.#spent.tokens += answer.report(tokens);
          yield { type: "spent", spent: this.spent };
        } else if (this.#spent.tokens + answer.least >= (this.#budget.tokens ?? Infinity)) {
          turn.end ??= "tokens";
          turn.controller.abort();
        }
        if (part?.type === "end") throw new Error(part.reason);
        if (part) yield part;
      }
      told = (await said) ?? told;
    } finally {
      this.#spent.tokens += answer.end();
      this.#messages.push(...told);
    }
  }

  async #tools(): Promise<Record<string, AiSdkTool>> {
    const { ask: _, steps: __, kernel, ...options } = this.#options;
    const governed: AgentKernel = {
      list: async (filter) => {
        const listed = await kernel.list(filter);
        for (const { manifest } of listed) if (manifest.capabilities.some(isCall)) this.#callers.add(manifest.name);
        return listed;
      },
      preview: (tool, input, given) => kernel.preview(tool, input, given),
      call: (tool, input, given) => this.#inTurn(() => this.#call(tool, input, given)),
    };
    const { tools } = await aiSdkTools(governed, { ...options, sessionId: this.sessionId });
    return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, this.#named(tool)]));
  }

  /** The input reaches the kernel as it is given here, and tells the calls apart. */
  #named(tool: AiSdkTool): AiSdkTool {
    return {
      ...tool,
      execute: (input, options) => {
        const own: unknown = structuredClone(input);
        if (typeof own === "object" && own !== null) this.#ids.set(own, options.toolCallId);
        return tool.execute(own, options);
      },
    };
  }

  #inTurn(call: () => Promise<AgentResult>): Promise<AgentResult> {
    if (this.#budget.fuel === undefined) return call();
    const result = this.#lastCall.then(call);
    this.#lastCall = result.catch(() => {});
    return result;
  }

  /** The rest of the budget, from the first call of a tool on; `undefined` where the host of the tool counts no fuel. */
  async #fuelFor(tool: string, input: unknown, options: CallOptions): Promise<number | undefined> {
    if (this.#budget.fuel === undefined) return undefined;
    const fuel = this.#budget.fuel - this.#spent.fuel;
    const counts = await this.#countsFuel(tool, input, { ...options, bounds: { fuel } });
    return counts === false ? undefined : fuel;
  }

  /** `undefined` where the call would be denied for another reason. */
  async #countsFuel(tool: string, input: unknown, options: CallOptions): Promise<boolean | undefined> {
    if (!this.#counted.has(tool)) {
      const preview = await this.#options.kernel.preview(tool, input, options);
      if (preview.decision !== "deny") this.#counted.set(tool, true);
      else if (preview.error.code === "UNSUPPORTED_HOST") this.#counted.set(tool, false);
    }
    return this.#counted.get(tool);
  }

  async #call(tool: string, input: unknown, options: CallOptions = {}): Promise<AgentResult> {
    const usedUp = this.#usedUp();
    if (usedUp !== undefined) return refused(usedUp);
    const { kernel } = this.#options;
    this.#spent.calls++;
    const id = typeof input === "object" && input !== null ? this.#ids.get(input) : undefined;
    const fuel = await this.#fuelFor(tool, input, options);
    // Before its arguments a call meets the bounds that its host holds.
    const countsFuel = async (id: string): Promise<boolean> => {
      const { name, version } = readVersionedId(id);
      return (await this.#countsFuel(name, {}, { ...options, version, bounds: { fuel: 0 } })) !== false;
    };
    const within = this.#callers.has(tool)
      ? new CallsWithin(this.#spent, this.#budget, options.signal, countsFuel)
      : undefined;
    const result = await this.#charged(fuel, () =>
      kernel.call(tool, input, {
        ...options,
        traceparent: this.traceparent,
        ...(id !== undefined && { correlationId: id }),
        ...(fuel !== undefined && { bounds: { fuel } }),
        ...(within && { signal: within.signal, onEvent: within.hear }),
      }),
    );
    await within?.settled();
    if (result.meta?.fuelUsed !== undefined) this.#counted.set(tool, true);
    if (!result.ok && within?.over !== undefined) return { ...result, ...refused(within.over), callId: result.callId };
    if (!result.ok && result.proof?.mode === "LOCKDOWN" && result.proof.reasonCode === "mode") this.stop("lockdown");
    return result;
  }

  /** A call that may have run costs its whole bound where nothing counted it. */
  async #charged<Result extends CallReport>(bound = 0, call: () => Promise<Result>): Promise<Result> {
    let used: number | undefined;
    try {
      const result = await call();
      used = result.meta?.attempts === 0 ? 0 : result.meta?.fuelUsed;
      return result;
    } finally {
      this.#spent.fuel += used ?? bound;
    }
  }

  #usedUp(spent: RunSpent = this.#spent): keyof RunBudget | undefined {
    return kinds.find((kind) => spent[kind] >= (this.#budget[kind] ?? Infinity));
  }
}

const isCall = ({ kind }: { readonly kind: string }): boolean => kind === "tool.call";

const kinds = ["calls", "fuel", "tokens"] as const satisfies readonly (keyof RunBudget)[];

/** Told to the model as data: it can still say what it found. */
function refused(kind: keyof RunBudget): AgentResult & { readonly ok: false } {
  const error: CallError = {
    code: "BOUNDS_EXCEEDED",
    message: `The run used up its budget of ${kind}.`,
    details: { bound: kind },
    retryable: false,
    hint: "Call nothing more. Tell the user what is done and what is left.",
    operatorHint: "Give the run a larger budget, or begin a new run.",
  };
  return { ok: false, error, callId: "" };
}

function newTrace(): string {
  const hex = (bytes: number): string =>
    [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `00-${hex(16)}-${hex(8)}-01`;
}

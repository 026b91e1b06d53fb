import { HeldInput, HeldOutput } from "@keyhole/kernel/context";
import {
  type ApprovalRequest,
  type Approver,
  type CallOptions,
  type CallResult,
  hashJson,
  type JsonObject,
} from "@keyhole/kernel";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  inputRequired,
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { askingMethods } from "../passed-methods.ts";
import { callApart } from "./call-apart.ts";
import { questionText } from "./client-text.ts";
import type { McpCaller } from "./caller.ts";
import type { ListedTool } from "./catalogue.ts";
import type { ExchangeContext } from "./exchange-context.ts";
import { StreamHold } from "./held-stream.ts";
import { ANSWERS, type McpQuestion } from "./questions.ts";
import { Reports } from "./reports.ts";
import type { ReadState, RequestState } from "./request-state.ts";
import { errorResult, stillOpen, toolResult } from "./result.ts";
import type { McpService } from "./service.ts";
import { WaitingCall } from "./waiting-calls.ts";

const APPROVAL = "approval";
const WAIT_MS = 25_000;

export type Answer = CallToolResult | InputRequiredResult;

/** Where an exchange comes from. */
export interface ExchangeLine {
  readonly server: McpServer;
  readonly caller: McpCaller;
  readonly sessionId: string;
}

/** One exchange of a `tools/call`: the first one makes the call; later ones bring answers, or fetch the result of a call that waited for a person. */
export class ToolExchange {
  readonly #service: McpService;
  readonly #server: McpServer;
  readonly #caller: McpCaller;
  readonly #sessionId: string;
  readonly #ctx: ExchangeContext;
  readonly #tool: ListedTool;
  readonly #input: JsonObject;
  readonly #reports: Reports;

  constructor(
    service: McpService,
    { server, caller, sessionId }: ExchangeLine,
    tool: ListedTool,
    input: JsonObject,
    ctx: ExchangeContext,
  ) {
    this.#service = service;
    this.#server = server;
    this.#caller = caller;
    this.#sessionId = sessionId;
    this.#ctx = ctx;
    this.#tool = tool;
    this.#input = input;
    this.#reports = new Reports(ctx);
  }

  async answer(): Promise<Answer> {
    const state = this.#state();
    if (state?.callId !== undefined) return this.#goOn(state, state.callId);
    const { questions = {} } = this.#service.options;
    const { name } = this.#tool.manifest;
    const question = Object.hasOwn(questions, name) ? questions[name] : undefined;
    return question ? this.#ask(question, state) : this.#call(this.#input);
  }

  /** The state that the client carried here. It was made for this caller; it has to be for this very call as well. */
  #state(): ReadState | undefined {
    const state = this.#ctx.mcpReq.requestState<ReadState>();
    if (state && (state.tool !== this.#tool.manifest.name || state.args !== this.#argsHash())) throw invalidState();
    return state;
  }

  #argsHash(): string {
    const hashed = hashJson(this.#input);
    if (typeof hashed === "string") return hashed;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "The arguments have no canonical form.");
  }

  #seal(more: Pick<RequestState, "callId" | "approvalId" | "answers">): string {
    const state = { tool: this.#tool.manifest.name, args: this.#argsHash(), ...more };
    return this.#service.states.write(state, this.#caller);
  }

  async #ask(question: McpQuestion, state: ReadState | undefined): Promise<Answer> {
    if (Object.hasOwn(this.#input, ANSWERS))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `\`${ANSWERS}\` is not an argument.`);
    const answers = { ...state?.answers, ...this.#ctx.mcpReq.inputResponses };
    const client = this.#clientCapabilities();
    const inputRequests: InputRequests | undefined = question.missing(answers, this.#input, client);
    if (inputRequests) return inputRequired({ inputRequests, requestState: this.#seal({ answers }) });
    if (state && !this.#service.states.use(state, this.#caller)) throw invalidState();
    return this.#call({ ...this.#input, [ANSWERS]: answers as JsonObject });
  }

  async #call(input: JsonObject): Promise<Answer> {
    const { approvals, content } = this.#service.options;
    const held = this.#tool.manifest.output.kind === "stream" ? new StreamHold() : undefined;
    const traceparent = this.#ctx.mcpReq._meta?.["traceparent"];
    const options: CallOptions = {
      caller: this.#caller.caller,
      sessionId: this.#sessionId,
      version: this.#tool.manifest.version,
      ...(this.#caller.grants && { grants: this.#caller.grants }),
      ...(typeof traceparent === "string" && { traceparent }),
      // The answer to another request has no form for a link.
      ...(content && this.#tool.method === undefined && { references: true }),
      ...(held && { output: held.output }),
      ...this.#reports.listeners,
    };
    const run = (more: CallOptions): Promise<CallResult> =>
      this.#service.kernel.call(this.#tool.manifest.name, input, { ...options, ...more });
    const canLead = this.#canLead();
    // The answer to another request has no form for an address.
    if (!approvals || (!canLead && this.#tool.method !== undefined))
      return this.#result(
        await run({ signal: this.#ctx.mcpReq.signal, ...(approvals && everyQuestionTo(approvals.approver)) }),
        input,
        held,
      );
    const begin = (): WaitingCall => {
      const cancel = new AbortController();
      const asking = (each: Approver): Promise<CallResult> => run({ signal: cancel.signal, ...everyQuestionTo(each) });
      return new WaitingCall(this.#caller, cancel, asking, approvals.approver, input, held);
    };
    return canLead ? this.#callAsking(begin()) : this.#callApart(begin);
  }

  /** The call outlives this exchange where it has to wait for a person; until then it follows the exchange's signal. */
  async #callAsking(waiting: WaitingCall): Promise<Answer> {
    const { input, held } = waiting;
    const result = await this.#following(waiting, [waiting.outcome, waiting.asked]);
    if (result) return this.#result(result, input, held);
    const { question } = waiting;
    if (!question || !this.#service.waiting.keep(question.callId, waiting)) {
      waiting.decline("Too many calls wait for a person.");
      return this.#result(await waiting.outcome, input, held);
    }
    return this.#show(question) ?? this.#await(question.callId, waiting);
  }

  /** For a client that cannot lead its user: before it gives up, the model gets the address. */
  async #callApart(begin: () => WaitingCall): Promise<Answer> {
    const { waiting: kept, clock, options } = this.#service;
    const { waitMs = WAIT_MS, approvals } = options;
    const { name, version } = this.#tool.manifest;
    const key = JSON.stringify([this.#sessionId, name, version, this.#argsHash()]);
    const following = this.#following.bind(this);
    const end = await callApart({ kept, caller: this.#caller, key, clock, waitMs, begin, following });
    if ("open" in end) return stillOpen(end.open, approvals);
    const { result, waiting, isLater } = end;
    return isLater ? this.#resultLater(result, waiting) : this.#result(result, waiting.input, waiting.held);
  }

  /** A later exchange of a call that waits. */
  async #goOn({ approvalId }: RequestState, callId: string): Promise<Answer> {
    const waiting = this.#service.waiting.find(callId, this.#caller);
    if (!waiting) throw invalidState();
    const answer = this.#ctx.mcpReq.inputResponses?.[APPROVAL];
    const action = typeof answer === "object" && answer !== null && "action" in answer ? answer.action : undefined;
    if (action === "decline" || action === "cancel") waiting.decline("The client declined.");
    const { question } = waiting;
    if (question && question.approvalId !== approvalId) return this.#show(question) ?? this.#await(callId, waiting);
    return this.#await(callId, waiting);
  }

  /** Waits a while for the outcome, and has the client ask again where there is none yet. */
  async #await(callId: string, waiting: WaitingCall): Promise<Answer> {
    const { waitMs = WAIT_MS } = this.#service.options;
    const patience = Promise.withResolvers<undefined>();
    const stop = this.#service.clock.after(waitMs, () => patience.resolve(undefined));
    const result = await this.#following(waiting, [waiting.outcome, waiting.asked, patience.promise]).finally(stop);
    if (result) {
      // Of several exchanges that wait, one fetches it.
      if (!this.#service.waiting.forget(callId)) throw invalidState();
      return this.#resultLater(result, waiting);
    }
    const approvalId = waiting.question?.approvalId;
    return inputRequired({ requestState: this.#seal({ callId, ...(approvalId !== undefined && { approvalId }) }) });
  }

  /** Whether an answer can lead the client's user to a page. */
  #canLead(): boolean {
    const { method } = this.#tool;
    const isAsking = method === undefined || askingMethods.has(method);
    return isAsking && this.#clientCapabilities().elicitation?.url !== undefined;
  }

  /** In 2026-07-28 each request says it, in the older era the handshake did. */
  #clientCapabilities(): ClientCapabilities {
    const envelope = this.#ctx.mcpReq.envelope as Readonly<Record<string, ClientCapabilities | undefined>> | undefined;
    return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? this.#server.server.getClientCapabilities() ?? {};
  }

  /** The first of these; meanwhile the end of the exchange ends the call. */
  async #following(
    { cancel }: WaitingCall,
    outcomes: readonly Promise<CallResult | undefined>[],
  ): Promise<CallResult | undefined> {
    const { signal } = this.#ctx.mcpReq;
    const follow = (): void => cancel.abort(signal.reason);
    if (signal.aborted) follow();
    signal.addEventListener("abort", follow, { once: true });
    try {
      return await Promise.race(outcomes);
    } finally {
      signal.removeEventListener("abort", follow);
    }
  }

  /** Leads the client's user to the page of a question; `undefined` where it has none. */
  #show(question: ApprovalRequest): Answer | undefined {
    const url = this.#service.options.approvals?.url(question);
    if (url === undefined) return undefined;
    const message = questionText(question);
    const { callId, approvalId } = question;
    return inputRequired({
      inputRequests: { [APPROVAL]: inputRequired.elicitUrl({ message, url }) },
      requestState: this.#seal({ callId, approvalId }),
    });
  }

  /** Of a call that waited for a person. Its result may have waited as well: no client came for it. */
  async #resultLater(result: CallResult, { input, held }: WaitingCall): Promise<CallToolResult> {
    // The error of a call that reached nothing tells nothing.
    const isOpen = !result.ok && result.effects.length === 0;
    const opened = isOpen ? undefined : await this.#held(result, result, input).open(this.#caller);
    return opened?.ok === false ? errorResult(opened.error, result) : this.#result(result, input, held);
  }

  /** The output of the call, for this caller later. */
  #held<Value>(value: Value, { callId, proof, effects }: CallResult, input: HeldInput): HeldOutput<Value, McpCaller> {
    const { kernel } = this.#service;
    const { name, version, capabilities } = this.#tool.manifest;
    const sessionId = this.#sessionId;
    const mayCall = capabilities.some(({ kind }) => kind === "tool.call");
    // The value is in a store of its own, or read at once.
    return new HeldOutput(value, 0, {
      callId,
      proof,
      effects,
      mayCall,
      input,
      preview: (again, { caller, grants }) =>
        kernel.preview(name, again, { caller, sessionId, version, ...(grants && { grants }) }),
    });
  }

  async #result(
    result: CallResult,
    input: JsonObject | HeldInput,
    held: StreamHold | undefined,
  ): Promise<CallToolResult> {
    await this.#reports.sent();
    const { links, options } = this.#service;
    const reader = { caller: this.#caller, sessionId: this.#sessionId };
    const heldInput = (): HeldInput => (input instanceof HeldInput ? input : new HeldInput(input));
    const linkTo =
      options.content && ((digest: string) => links.add(digest, this.#held(digest, result, heldInput()), reader));
    const given = toolResult(this.#tool, result, { held: result.ok ? held : undefined, linkTo });
    const { outputSchema } = this.#tool.definition;
    return this.#server.server.projectCallToolResult(given, outputSchema);
  }
}

/** The server's approver stands in for the kernel's: it is shown each question, also of calls within. */
function everyQuestionTo(approver: Approver): Pick<CallOptions, "approver" | "nestedApprover"> {
  return { approver, nestedApprover: approver };
}

/** As the SDK answers a state that its hook refuses: the client does not learn the wrong part. */
function invalidState(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
    reason: "invalid_request_state",
  });
}

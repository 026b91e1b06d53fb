import type { AgentRun, RunBudget, RunEnd, RunPart, RunSpent } from "@keyhole/agents/agent-run";
import type { ApprovalAnswer, ApprovalRequest, JsonValue, ToolSummary } from "@keyhole/kernel";
import type { ModelMessage } from "ai";
import { AllowedBefore, type Question } from "../approval/allowed-before.ts";
import { faultOf, type KernelClient } from "../client/kernel-client.ts";
import { Listeners } from "../client/listeners.ts";
import { lineOf } from "../session/call-head.ts";
import type { Approve, Calls } from "../session/calls.ts";
import { type ModelChoice, openRun, scripted } from "./models.ts";
import { pageKernel } from "./page-kernel.ts";

/** The entries of the conversation. */
export type Entry =
  | { readonly by: "you" | "agent"; readonly key: string; readonly turn: number; readonly text: string }
  | CallEntry
  | { readonly by: "end"; readonly key: string; readonly turn: number; readonly end: RunEnd; readonly reason: string };

export interface CallEntry {
  readonly by: "call";
  readonly key: string;
  readonly turn: number;
  /** The framework's id. A model can give one to several calls. */
  readonly call: string;
  readonly tool: string;
  /** The input in one line. */
  readonly what: string;
  /** In the log of calls; absent where the kernel was not reached. */
  readonly id?: string;
  /** Why there is no call. */
  readonly refused?: string;
  /** The model has its answer: without an `id`, the kernel was not asked again. */
  readonly isAnswered?: boolean;
}

/** A question that waits in its card. */
export interface Asked extends Question {
  readonly id: string;
  readonly signal: AbortSignal;
}

export interface ConversationState {
  readonly entries: readonly Entry[];
  readonly turn: number;
  readonly isBusy: boolean;
  readonly spent: RunSpent;
  readonly budget: Required<RunBudget>;
  readonly choice: ModelChoice;
  readonly asked: readonly Asked[];
}

const nothing: RunSpent = { tokens: 0, fuel: 0, calls: 0 };
const budget: Required<RunBudget> = { tokens: 100_000, fuel: 50_000_000, calls: 25 };
/** The page cuts a longer message, and says so; the model has all of it. */
const mostCharacters = 20_000;
const cutText = "… The rest is not shown.";
/** An endpoint can answer with a whole page. */
const mostReason = 500;
/** Between two looks at what a model says: it can say more than a page can draw. */
const flushMs = 50;

/** One conversation with an agent. It continues behind another screen, and ends with the page. */
export class Conversation {
  readonly #client: KernelClient;
  readonly #calls: Calls;
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;
  readonly #allowed = new AllowedBefore();
  #tools: readonly ToolSummary[] = [];
  #run: AgentRun<ModelMessage> | undefined;
  #sessionId = "";
  #isStopped = false;
  #added = 0;
  /** Calls that started before the page read their card from the stream. */
  #early: { readonly call: string | undefined; readonly id: string }[] = [];
  #isFlushing = false;
  #state: ConversationState = {
    entries: [],
    turn: 0,
    isBusy: false,
    spent: nothing,
    budget,
    choice: scripted,
    asked: [],
  };
  /** Asks in the page's dialog, while the conversation is out of sight. */
  #elsewhere: Approve | undefined;

  constructor(client: KernelClient, calls: Calls) {
    this.#client = client;
    this.#calls = calls;
  }

  readonly state = (): ConversationState => this.#state;

  /** The tools of the next run. */
  use(tools: readonly ToolSummary[]): void {
    this.#tools = tools;
  }

  /** @param elsewhere absent while the conversation is in sight; it is given the questions that wait, too */
  show(elsewhere: Approve | undefined): void {
    this.#elsewhere = elsewhere;
    if (elsewhere === undefined) return;
    for (const { request, signal, answer } of this.#state.asked) void elsewhere(request, signal).then(answer);
  }

  /** Another model, or another budget, begins another run. */
  choose(choice: ModelChoice, budget: Required<RunBudget>): void {
    this.#begin({ choice, budget });
  }

  restart(): void {
    this.#begin({});
  }

  #begin(more: Partial<ConversationState>): void {
    this.stop();
    this.#run = undefined;
    this.#early = [];
    this.#set({ entries: [], turn: 0, spent: nothing, asked: [], ...more });
  }

  stop(why: "stopped" | "lockdown" = "stopped"): void {
    this.#isStopped = true;
    this.#run?.stop(why);
  }

  async send(text: string): Promise<void> {
    if (this.#state.isBusy) return;
    const turn = this.#state.turn + 1;
    this.#isStopped = false;
    this.#set({ turn, isBusy: true });
    this.#add({ by: "you", key: this.#key(), turn, text });
    try {
      const run = (this.#run ??= await this.#open());
      if (this.#isStopped) return this.#end(turn, "stopped", "");
      for await (const part of run.send({ role: "user", content: text })) if (run === this.#run) this.#take(part, turn);
    } catch (error) {
      this.#end(turn, "failed", faultOf(error).message);
    } finally {
      this.#set({ isBusy: false });
    }
  }

  #open(): Promise<AgentRun<ModelMessage>> {
    const { choice, budget: own } = this.#state;
    const sessionId = `agent-${crypto.randomUUID()}`;
    this.#sessionId = sessionId;
    const kernel = pageKernel({
      client: this.#client,
      tools: this.#tools,
      calls: this.#calls,
      sessionId,
      onCall: (id, call) => {
        if (sessionId === this.#sessionId) this.#started(call, id);
      },
      approveFor: (id) => (request, signal) => this.#ask(id(), request, signal),
    });
    return openRun(choice, kernel, own, sessionId);
  }

  #take(part: RunPart, turn: number): void {
    switch (part.type) {
      case "text":
        return this.#say(part.text, turn);
      case "call":
        return this.#addCall(part, turn);
      case "refused":
        this.#change(part.id, { refused: shortened(part.reason) });
        return undefined;
      case "answer":
        return this.#answered(part.id, part.answer.ok ? "" : part.answer.error.message);
      case "spent":
        return this.#set({ spent: part.spent });
      case "end":
        this.#set({ spent: this.#run?.spent ?? nothing });
        if (part.end !== "answered") return this.#end(turn, part.end, part.reason ?? "");
        return this.#state.entries.at(-1)?.by === "you" ? this.#end(turn, "failed", "Its answer is empty.") : undefined;
    }
  }

  #addCall({ id: call, tool, input }: Extract<RunPart, { type: "call" }>, turn: number): void {
    const early = this.#early.findIndex((each) => each.call === call);
    const [started] = early < 0 ? [] : this.#early.splice(early, 1);
    const id = started && { id: started.id };
    this.#add({ by: "call", key: this.#key(), turn, call, tool, what: whatOf(input), ...id });
  }

  #started(call: string | undefined, id: string): void {
    if (!this.#change(call, { id })) this.#early.push({ call, id });
  }

  /** A call over the budget, a repeated one, and one that only reads on, have an answer without a call of the kernel. */
  #answered(call: string, refused: string): void {
    this.#set({ spent: this.#run?.spent ?? nothing });
    this.#change(call, { isAnswered: true, ...(refused !== "" && { refused: shortened(refused) }) });
  }

  #say(text: string, turn: number): void {
    if (text === "") return;
    const last = this.#state.entries.at(-1);
    if (last?.by !== "agent") return this.#add({ by: "agent", key: this.#key(), turn, text: shortened(text) });
    if (last.text.length >= mostCharacters) return;
    const entry = { ...last, text: shortened(last.text + text) };
    this.#state = { ...this.#state, entries: [...this.#state.entries.slice(0, -1), entry] };
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setTimeout(() => {
      this.#isFlushing = false;
      this.#set({});
    }, flushMs);
  }

  #end(turn: number, end: RunEnd, reason: string): void {
    this.#add({ by: "end", key: this.#key(), turn, end, reason: reason.slice(0, mostReason) });
  }

  #ask(id: string, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    if (this.#elsewhere) return this.#elsewhere(request, signal);
    return this.#allowed.ask(request, signal, {
      enter: (question) => this.#set({ asked: [...this.#state.asked, { ...question, id, signal }] }),
      leave: ({ answer }) => this.#set({ asked: this.#state.asked.filter((each) => each.answer !== answer) }),
    });
  }

  #add(entry: Entry): void {
    this.#set({ entries: [...this.#state.entries, entry] });
  }

  /** @returns whether the call has a card that still misses an end, or its call */
  #change(call: string | undefined, more: Partial<CallEntry>): boolean {
    const { entries, turn } = this.#state;
    const at = entries.findIndex(
      (entry) => entry.by === "call" && entry.turn === turn && entry.call === call && isBare(entry),
    );
    const entry = entries[at];
    if (entry?.by !== "call") return false;
    this.#set({ entries: entries.with(at, { ...entry, ...more }) });
    return true;
  }

  #key(): string {
    return String(++this.#added);
  }

  #set(more: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...more };
    this.#listeners.tell();
  }
}

function isBare({ id, refused, isAnswered = false }: CallEntry): boolean {
  return id === undefined && refused === undefined && !isAnswered;
}

function shortened(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}${cutText}` : text;
}

function whatOf(input: unknown): string {
  if (typeof input === "string") return lineOf(input);
  return typeof input === "object" && input !== null ? lineOf(JSON.parse(JSON.stringify(input)) as JsonValue) : "";
}

const open = new WeakMap<KernelClient, Conversation>();

/** The conversation with an agent of this kernel. */
export function conversationOf(client: KernelClient, calls: Calls): Conversation {
  const known = open.get(client) ?? new Conversation(client, calls);
  open.set(client, known);
  return known;
}

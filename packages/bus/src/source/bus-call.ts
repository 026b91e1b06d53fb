import { type Clock, hashText, type JsonObject, type JsonValue, type Onward } from "@keyhole/kernel";
import { writeBody } from "../wire/body.ts";
import { headers, type Kind, kindOf, numberOf } from "../wire/headers.ts";
import { partitionOf, type Subjects } from "../wire/subjects.ts";
import { isToken } from "../wire/token.ts";
import { callError } from "./call-error.ts";
import { Delivery } from "./delivery.ts";
import type { Answer, Exchange, Inbox } from "./inbox.ts";
import type { CallReports } from "./options.ts";
import { readFailure, readReport, readResult } from "./answers.ts";
import { Parts } from "./parts.ts";

/** Questions without an answer, after which the kernel counts as gone. */
const MOST_SILENT = 3;
/** Results with a lost part, after which the next one is not asked for. */
const MOST_INCOMPLETE = 3;
/** Requests without a listener. */
const MOST_UNDELIVERED = 5;
/** A kernel that reports more does nothing else. */
const MOST_REPORTS = 10_000;
/** The kernel's own deadline is a little later: then the error says what is known. */
const MARGIN_MS = 50;

export interface BusCallPorts {
  readonly inbox: Inbox;
  readonly subjects: Subjects;
  readonly clock: Clock;
  readonly askMs: number;
  /** Of one result, in all its messages. */
  readonly resultBytes: number;
}

export interface WantedCall {
  readonly tool: string;
  /** Digest of the definition that is meant. */
  readonly definition: string;
  readonly input: JsonObject;
  readonly onward: Onward;
  readonly signal: AbortSignal;
  readonly reports: CallReports;
  /** Before the source uses an answer. `false`: the budget is spent, and the call ends. */
  readonly charge: (bytes: number) => boolean;
}

export type BusOutput = JsonValue | Uint8Array;

/**
 * One call over the bus. A request with a key is sent again until it is answered: the kernel that owns the key runs it once. A request without one is sent again only where
 * no kernel was there to take it; after that the source sends questions alone.
 */
export class BusCall {
  readonly #ports: BusCallPorts;
  readonly #call: WantedCall;
  readonly #exchange: Exchange;
  readonly #key: string | undefined;
  readonly #deadlineMs: number;
  readonly #parts: Parts;
  readonly #settled = Promise.withResolvers<BusOutput>();
  readonly #onAbort = (): void => this.#abandon("The call was cancelled.");
  #stopDeadline: () => void = () => {};
  #stopAsking: () => void = () => {};
  readonly #delivery: Delivery;
  #isOver = false;
  #undelivered = 0;
  #silent = 0;
  #incomplete = 0;
  #lastSequence = 0;
  /** Of the one kernel that runs the call, where kernels offer to. */
  #taker: string | undefined;
  #reports = 0;

  constructor(ports: BusCallPorts, call: WantedCall) {
    const { caller, idempotencyKey, timeoutMs } = call.onward;
    this.#ports = ports;
    this.#call = call;
    this.#parts = new Parts(ports.resultBytes);
    this.#exchange = ports.inbox.open({
      onAnswer: (answer) => this.#take(answer),
      onUnheard: () => this.#unheard(),
      onClose: () => this.#abandon("The source was closed."),
    });
    // Callers of this kernel may choose equal keys, and the bus does not learn them.
    this.#key = idempotencyKey === undefined ? undefined : digestOf(JSON.stringify([caller, idempotencyKey]));
    const proof = this.#key === undefined ? "no take" : "no request";
    this.#delivery = new Delivery(ports.inbox.isSealed ? proof : "unheard");
    this.#deadlineMs = ports.clock.now() + Math.max(1, timeoutMs - MARGIN_MS);
  }

  /** @throws Error with a name that says whether the call ran */
  async output(): Promise<BusOutput> {
    const { clock } = this.#ports;
    const { signal } = this.#call;
    this.#stopDeadline = clock.after(this.#deadlineMs - clock.now(), () =>
      this.#abandon("No answer came before the deadline."),
    );
    signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
    else this.#request();
    return this.#settled.promise;
  }

  /** The connection was lost and is there again: with it messages may have been lost. */
  again(): void {
    if (this.#isOver) return;
    this.#silent = 0;
    this.#ask();
  }

  #request(): void {
    const { subjects } = this.#ports;
    const { tool, input, definition, onward } = this.#call;
    const key = this.#key;
    const subject = key === undefined ? subjects.request(tool) : subjects.partition(tool, partitionOf(key));
    this.#send(subject, "request", input, [
      [headers.deadline, String(Math.floor(this.#deadlineMs))],
      [headers.definition, definition],
      [headers.traceparent, onward.traceparent],
      ...(key === undefined ? [] : [[headers.key, key] as const]),
    ]);
    this.#wait();
  }

  #wait(): void {
    const { clock, askMs } = this.#ports;
    this.#stopAsking();
    if (!this.#isOver) this.#stopAsking = clock.after(askMs, () => this.#ask());
  }

  #ask(): void {
    // Silence says nothing while no answer can come.
    if (!this.#ports.inbox.isConnected) return this.#wait();
    if (this.#key !== undefined || !this.#delivery.isUnderWay) return this.#request();
    if (this.#silent++ >= MOST_SILENT)
      return this.#abandon(`The kernel that serves ${this.#call.tool} does not answer any more.`);
    this.#send(this.#ports.subjects.control(this.#call.tool), "ask", undefined, []);
    this.#wait();
  }

  #send(subject: string, kind: Kind, body: JsonObject | undefined, more: readonly (readonly [string, string])[]): void {
    const { correlation, reply } = this.#exchange;
    const own: readonly (readonly [string, string])[] = [
      [headers.kind, kind],
      [headers.correlation, correlation],
    ];
    const { ran } = this.#delivery;
    if (kind === "request") this.#delivery.requested();
    if (kind === "take") this.#delivery.took();
    try {
      // Only a request learns that there is no listener.
      const to = kind === "request" ? { reply } : {};
      this.#ports.inbox.send(subject, { ...to, headers: new Map([...own, ...more]), body: writeBody(body) });
    } catch (error) {
      this.#fail(callError(ran, error instanceof Error ? error.message : "The bus took no message."));
    }
  }

  #take(message: Answer): void {
    if (this.#isOver) return;
    const kind = kindOf(message);
    const kernel = message.headers.get(headers.kernel);
    if (this.#taker !== undefined && kernel !== this.#taker)
      return this.#ports.inbox.report("An answer is of a kernel that does not run the call. It was dropped.");
    this.#silent = 0;
    this.#delivery.answered();
    if (!this.#call.charge(message.body.length)) return;
    if (kind === "result") this.#end(message);
    else if (kind === "offer" && isToken(kernel)) this.#accept(kernel);
    else if (kind === "part" && !this.#parts.add(message)) this.#tooLarge();
    else if (kind === "progress" || kind === "log") this.#report(kind, message);
  }

  /** The first kernel that offers runs the call, and no other one. */
  #accept(kernel: string): void {
    this.#taker = kernel;
    this.#send(this.#ports.subjects.control(this.#call.tool), "take", undefined, [[headers.kernel, kernel]]);
    this.#wait();
  }

  #tooLarge(): void {
    const { resultBytes } = this.#ports;
    this.#fail(callError("maybe", `The result of ${this.#call.tool} is larger than ${resultBytes} bytes.`));
  }

  /** The next request comes with the next question. */
  #unheard(): void {
    if (this.#isOver || !this.#delivery.unheard()) return;
    if (this.#key !== undefined || ++this.#undelivered < MOST_UNDELIVERED) return;
    this.#abandon(`No kernel serves ${this.#call.tool} on the bus.`);
  }

  #report(kind: "progress" | "log", message: Answer): void {
    if (++this.#reports > MOST_REPORTS)
      return this.#abandon(`The kernel that serves ${this.#call.tool} reported more than ${MOST_REPORTS} times.`);
    const sequence = numberOf(message, headers.sequence) ?? 0;
    if (sequence <= this.#lastSequence) return;
    this.#lastSequence = sequence;
    readReport(kind, message, this.#call.reports);
  }

  #end(message: Answer): void {
    const { tool } = this.#call;
    if (message.headers.get(headers.outcome) !== "ok") return this.#fail(readFailure(message, tool));
    const whole = this.#parts.whole(message);
    if (!whole) return this.#lostPart();
    const output = readResult(whole);
    if (output === undefined) return this.#fail(callError("maybe", `The result of ${tool} cannot be read.`));
    this.#close();
    this.#settled.resolve(output);
  }

  /** The kernel sends the whole result again. */
  #lostPart(): void {
    const { tool } = this.#call;
    if (++this.#incomplete > MOST_INCOMPLETE)
      return this.#fail(callError("maybe", `A part of the result of ${tool} was lost.`));
    this.#ask();
  }

  /** Ends the wait. A kernel that has the call gets a cancellation. */
  #abandon(reason: string): void {
    if (this.#isOver) return;
    const { subjects } = this.#ports;
    const { ran } = this.#delivery;
    this.#send(subjects.control(this.#call.tool), "cancel", undefined, []);
    this.#fail(callError(ran, reason));
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#close();
    this.#settled.reject(error);
  }

  #close(): void {
    this.#isOver = true;
    this.#stopDeadline();
    this.#stopAsking();
    this.#call.signal.removeEventListener("abort", this.#onAbort);
    this.#exchange.close();
  }
}

function digestOf(text: string): string {
  return hashText(text.toWellFormed()).slice(-64);
}

import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approver,
  askInTurn,
  type CallOptions,
  type CallResult,
} from "@keyhole/kernel";
import type { CallListeners, Releasable, Wanted } from "./remote-api.ts";
import { PageBody, remoteBody } from "./remote-body.ts";
import type { Kept } from "./remote-options.ts";
import { PageOutput, remoteOutput } from "./remote-output.ts";

/** The page's end of one call that runs in the worker: what of its options stays in the page. */
export class PageListeners {
  readonly wanted: Wanted;
  readonly listeners: CallListeners;
  readonly #signal: AbortSignal | undefined;
  readonly #cancel: () => void;
  readonly #output: PageOutput | undefined;
  readonly #body: PageBody | undefined;

  /** @param cancel asks the worker to cancel the call */
  constructor(
    { signal, output, body, onEvent, onLog, onProgress, approver, nestedApprover }: Kept,
    cancel: () => void,
  ) {
    this.#signal = signal;
    this.#cancel = cancel;
    this.#output = output && new PageOutput(output, cancel);
    this.#body = body && new PageBody(body);
    this.wanted = {
      event: onEvent !== undefined,
      log: onLog !== undefined,
      progress: onProgress !== undefined,
      output: wantedStream(this.#output),
      body: wantedStream(this.#body),
      ask: approver !== undefined,
      askNested: nestedApprover !== undefined,
    };
    this.listeners = {
      event: (event) => onEvent?.(event),
      log: (entry) => onLog?.(entry),
      progress: (progress) => onProgress?.(progress),
      write: async (piece) => this.#output?.write(piece),
      read: async () => this.#body?.read(),
      leave: () => this.#body?.leave(),
      ...askedFrom(approver, nestedApprover),
    };
  }

  /** Gives the result, once the caller's signal and streams are done with. */
  async settle(answer: Promise<CallResult>): Promise<CallResult> {
    if (this.#signal?.aborted) this.#cancel();
    else this.#signal?.addEventListener("abort", this.#cancel, { once: true });
    let ended: CallResult | undefined;
    try {
      return (ended = await answer);
    } finally {
      this.#signal?.removeEventListener("abort", this.#cancel);
      void this.#output?.end(ended);
      this.#body?.leave();
    }
  }
}

function wantedStream(stream: { readonly isUsable: boolean } | undefined): boolean | "refused" {
  return stream === undefined ? false : stream.isUsable || "refused";
}

function askedFrom(
  approver: Approver | undefined,
  nestedApprover: Approver | undefined,
): Pick<CallListeners, "ask" | "askNested" | "withdraw"> {
  const asked = new Map<string, AbortController>();
  const asking =
    (answers: Approver | undefined): CallListeners["ask"] =>
    (request) => {
      const controller = new AbortController();
      asked.set(request.approvalId, controller);
      if (answers === undefined) return Promise.reject(new Error("nobody answers"));
      // The kernel knows this approver by another function for each call.
      return askInTurn(answers, request, controller.signal);
    };
  return {
    ask: asking(approver),
    askNested: asking(nestedApprover),
    withdraw: (approvalId) => asked.get(approvalId)?.abort(),
  };
}

type Listening = Pick<CallOptions, "onEvent" | "onLog" | "onProgress" | "approver" | "nestedApprover"> & {
  readonly output?: unknown;
  readonly body?: unknown;
};

/** The worker's end: options that speak to the page. What was sent there is noted in `heard`. */
export function remoteListeners(
  wanted: Wanted,
  listeners: Releasable<CallListeners>,
  heard: Promise<void>[],
): Listening {
  return {
    ...(wanted.event && { onEvent: (event) => void heard.push(listeners.event(event)) }),
    ...(wanted.log && { onLog: (entry) => void heard.push(listeners.log(entry)) }),
    ...(wanted.progress && { onProgress: (progress) => void heard.push(listeners.progress(progress)) }),
    ...(wanted.output === true && { output: remoteOutput((piece) => listeners.write(piece)) }),
    ...(wanted.output === "refused" && { output: null }),
    ...(wanted.body === true && { body: remoteBody(listeners) }),
    ...(wanted.body === "refused" && { body: null }),
    ...(wanted.ask && { approver: withdrawable(listeners, (request) => listeners.ask(request)) }),
    ...(wanted.askNested && { nestedApprover: withdrawable(listeners, (request) => listeners.askNested(request)) }),
  };
}

function withdrawable(
  listeners: Pick<Releasable<CallListeners>, "withdraw">,
  ask: (request: ApprovalRequest) => Promise<ApprovalAnswer>,
): Approver {
  return (request, signal) => {
    signal.addEventListener("abort", () => void listeners.withdraw(request.approvalId), { once: true });
    return ask(request);
  };
}

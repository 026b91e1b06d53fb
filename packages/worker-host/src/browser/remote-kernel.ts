import type {
  ApprovalAnswer,
  ApprovalRequest,
  Approver,
  AuditEvent,
  CallOptions,
  CallResult,
  Kernel,
  LogEntry,
  Mode,
  Progress,
  Setup,
  StandingApproval,
  ToolFilter,
  ToolHealth,
  ToolPackage,
  ToolSummary,
} from "@keyhole/kernel";
import * as Comlink from "comlink";
import { arrived, type Crossing, crossing } from "./crossing.ts";
import type { KernelClient } from "./kernel-client.ts";
import { KERNEL_START_MS, kernelStarted, KernelUnavailable, kernelUse, reportStart } from "./kernel-start.ts";
import { lane, ownPage } from "./lane.ts";
import { PageBody, remoteBody } from "./remote-body.ts";
import { arrivedOptions, type SentOptions, takeOptions, toolNamed } from "./remote-options.ts";
import { PageOutput, remoteOutput } from "./remote-output.ts";

const LANE = "keyhole.kernel";

/** The caller's side of one call: functions cross one by one, behind one proxy. */
interface CallListeners {
  event(event: AuditEvent): void;
  log(entry: LogEntry): void;
  progress(progress: Progress): void;
  /** Resolves when the caller has taken it. */
  write(piece: Uint8Array): Promise<void>;
  /** The next chunk of the body, as the caller's stream gives it; `undefined` at its end. */
  read(): Promise<unknown>;
  /** Nobody reads the body any more. */
  leave(): void;
  ask(request: ApprovalRequest): Promise<ApprovalAnswer>;
  /** Nobody waits for that answer any more. */
  withdraw(approvalId: string): void;
}

/** Which listeners there are: an event that nobody hears does not cross. */
interface Wanted {
  readonly event: boolean;
  readonly log: boolean;
  readonly progress: boolean;
  /** `refused`: there is one that is not the caller's to give. */
  readonly output: boolean | "refused";
  readonly body: boolean | "refused";
  readonly ask: boolean;
}

type Releasable<T> = Comlink.Remote<T & Comlink.ProxyMarked>;

interface KernelApi {
  call(
    token: number,
    tool: string,
    input: Crossing,
    options: SentOptions,
    wanted: Wanted,
    listeners: Releasable<CallListeners>,
  ): Promise<CallResult>;
  cancel(token: number): void;
  list(filter?: ToolFilter): Promise<readonly ToolSummary[]>;
  health(tool: string, options: SentOptions): Promise<ToolHealth>;
  read(fromSeq?: number, limit?: number): Promise<readonly AuditEvent[]>;
  subscribe(token: number, listener: Releasable<(event: AuditEvent) => void>): Promise<void>;
  unsubscribe(token: number): Promise<void>;
  mode(): Promise<Mode>;
  setMode(mode: Mode, reason: string): Promise<void>;
  policyHash(): Promise<string>;
  setPolicy(document: Crossing): Promise<Setup<{ readonly policyHash: string }>>;
  standing(): Promise<readonly StandingApproval[]>;
  revoke(approvalId: string, reason: string): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Serves a kernel to the page that started this worker. Call it at once, with the promise: calls that arrive before the kernel is ready wait for it.
 *
 * Trusted pairs only: never on a port that a tool's code can reach.
 *
 * @example
 * // kernel.worker.ts
 * exposeKernel(boot());
 * async function boot() {
 *   return createKernel({ host: await browserHost({ stage: remoteStage() }), policy });
 * }
 */
export function exposeKernel(kernel: Kernel | Promise<Kernel>, page: Comlink.Endpoint = ownPage()): void {
  const running = new Map<number, AbortController>();
  const subscriptions = new Map<number, () => void>();
  const api: KernelApi = {
    async call(token, tool, input, options, wanted, listeners) {
      const controller = new AbortController();
      running.set(token, controller);
      const heard: Promise<void>[] = [];
      try {
        const { signal } = controller;
        const given = arrivedOptions(options);
        const asked = given && { signal, ...listening(wanted, listeners, heard), ...given };
        return await (await kernel).call(tool, arrived(input), asked as CallOptions);
      } finally {
        running.delete(token);
        await Promise.allSettled(heard); // The result comes last, whatever way the listeners' messages took.
        listeners[Comlink.releaseProxy]();
      }
    },
    cancel: (token) => running.get(token)?.abort(),
    list: async (filter) => (await kernel).list(filter),
    health: async (tool, options) => (await kernel).health(tool, arrivedOptions(options) ?? {}),
    read: async (fromSeq, limit) => (await kernel).audit.read(fromSeq, limit),
    async subscribe(token, listener) {
      const stop = (await kernel).audit.subscribe((event) => void listener(event));
      subscriptions.set(token, () => {
        stop();
        listener[Comlink.releaseProxy]();
      });
    },
    async unsubscribe(token) {
      await kernel; // It may come before the subscription is there.
      subscriptions.get(token)?.();
      subscriptions.delete(token);
    },
    mode: async () => (await kernel).mode,
    setMode: async (mode, reason) => (await kernel).setMode(mode, reason),
    policyHash: async () => (await kernel).policyHash,
    setPolicy: async (document) => (await kernel).setPolicy(arrived(document)),
    standing: async () => (await kernel).approvals.list(),
    revoke: async (approvalId, reason) => (await kernel).approvals.revoke(approvalId, reason),
    close: async () => (await kernel).close(),
  };
  reportStart(kernel, page);
  Comlink.expose(api, lane(page, LANE));
}

type Listening = Pick<CallOptions, "onEvent" | "onLog" | "onProgress" | "approver"> & {
  readonly output?: unknown;
  readonly body?: unknown;
};

/** What was sent to the caller is noted in `heard`. */
function listening(wanted: Wanted, listeners: Releasable<CallListeners>, heard: Promise<void>[]): Listening {
  return {
    ...(wanted.event && { onEvent: (event) => void heard.push(listeners.event(event)) }),
    ...(wanted.log && { onLog: (entry) => void heard.push(listeners.log(entry)) }),
    ...(wanted.progress && { onProgress: (progress) => void heard.push(listeners.progress(progress)) }),
    ...(wanted.output === true && { output: remoteOutput((piece) => listeners.write(piece)) }),
    ...(wanted.output === "refused" && { output: null }),
    ...(wanted.body === true && { body: remoteBody(listeners) }),
    ...(wanted.body === "refused" && { body: null }),
    ...(wanted.ask && {
      approver: (request, signal) => {
        signal.addEventListener("abort", () => void listeners.withdraw(request.approvalId), { once: true });
        return listeners.ask(request);
      },
    }),
  };
}

export interface ConnectOptions {
  /** Answers for every call that brings no approver of its own. */
  readonly approver?: Approver;
  /** Milliseconds until the worker's kernel has to be ready. Default 60,000. */
  readonly startTimeoutMs?: number;
}

/**
 * The page's end of {@link exposeKernel}. Call it in the task that created the worker: later the browser may have reported already why the worker cannot start.
 *
 * A client whose kernel did not start stays without one: terminate the worker, and connect to a new one.
 */
export function connectKernel(
  worker: Comlink.Endpoint,
  { approver, startTimeoutMs = KERNEL_START_MS }: ConnectOptions = {},
): KernelClient {
  const ready = kernelStarted(worker, startTimeoutMs);
  ready.catch(() => {}); // Every use reports it.
  const use = kernelUse(worker, ready);
  const remote = Comlink.wrap<KernelApi>(lane(worker, LANE));
  let tokens = 0;

  const call = async (
    tool: string | ToolPackage<never, unknown>,
    input: unknown,
    options: CallOptions = {},
  ): Promise<CallResult> => {
    const token = tokens++;
    const { kept, sent: given } = takeOptions(options);
    const { signal, output, body, onEvent, onLog, onProgress, approver: own = approver } = kept;
    const cancel = (): void => void use(() => remote.cancel(token)).catch(() => {});
    const page = output && new PageOutput(output, cancel);
    const source = body && new PageBody(body);
    const asked = new Map<string, AbortController>();
    const listeners: CallListeners = {
      event: (event) => onEvent?.(event),
      log: (entry) => onLog?.(entry),
      progress: (progress) => onProgress?.(progress),
      write: async (piece) => page?.write(piece),
      read: async () => source?.read(),
      leave: () => source?.leave(),
      ask(request) {
        const controller = new AbortController();
        asked.set(request.approvalId, controller);
        return own === undefined ? Promise.reject(new Error("nobody answers")) : own(request, controller.signal);
      },
      withdraw: (approvalId) => asked.get(approvalId)?.abort(),
    };
    const wanted = {
      event: onEvent !== undefined,
      log: onLog !== undefined,
      progress: onProgress !== undefined,
      output: page === undefined ? false : page.isUsable || ("refused" as const),
      body: source === undefined ? false : source.isUsable || ("refused" as const),
      ask: own !== undefined,
    };
    const { name, sent } = toolNamed(tool, given);
    const crossed = crossing(input);
    const result = use(() => remote.call(token, name, crossed, sent, wanted, Comlink.proxy(listeners)));
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
    let ended: CallResult | undefined;
    try {
      return (ended = await result);
    } finally {
      signal?.removeEventListener("abort", cancel);
      void page?.end(ended);
      source?.leave();
    }
  };

  return {
    ready: () => ready,
    call: call as KernelClient["call"],
    list: (filter) => use(() => remote.list(filter)),
    health(tool, options = {}) {
      const { name, sent } = toolNamed(tool, takeOptions(options).sent);
      return use(() => remote.health(name, sent));
    },
    audit: {
      read: (fromSeq, limit) => use(() => remote.read(fromSeq, limit)),
      subscribe(listener) {
        const token = tokens++;
        let open = true;
        const heard = (event: AuditEvent): void => {
          if (open) listener(event);
        };
        use(() => remote.subscribe(token, Comlink.proxy(heard))).catch(() => {});
        return () => {
          open = false;
          use(() => remote.unsubscribe(token)).catch(() => {});
        };
      },
    },
    mode: () => use(() => remote.mode()),
    setMode: (mode, reason) => use(() => remote.setMode(mode, reason)),
    policyHash: () => use(() => remote.policyHash()),
    setPolicy(document) {
      const crossed = crossing(document);
      return use(() => remote.setPolicy(crossed));
    },
    approvals: {
      list: () => use(() => remote.standing()),
      revoke: (approvalId, reason) => use(() => remote.revoke(approvalId, reason)),
    },
    close: () =>
      use(() => remote.close()).catch((error: unknown) => {
        // Nothing is open where no kernel started.
        if (!(error instanceof KernelUnavailable)) throw error;
      }),
  };
}

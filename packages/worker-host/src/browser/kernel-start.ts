import type { Kernel } from "@keyhole/kernel";
import type { Endpoint } from "comlink";
import { watchPolicy } from "../brokers/page-policy.ts";
import { multiplexedEndpoint } from "./multiplexed-endpoint.ts";

const LANE = "keyhole.start";

/** Twice what a first isolate may take: a kernel whose isolate does not start reports that cause itself. */
export const KERNEL_START_MS = 60_000;

/** `setTimeout` fires at once for a longer time. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Why no kernel answers in a worker. Every reason but the last is final for its client. */
export type KernelFault =
  /** The browser did not run the worker's file: it or an import is missing, is not JavaScript, or is blocked. */
  | "not-loaded"
  /** The worker's script threw before it called `exposeKernel`. */
  | "threw"
  /** No kernel came within `startTimeoutMs` (default 60,000). */
  | "timed-out"
  /** The promise given to `exposeKernel` rejected. */
  | "boot-failed"
  /** The page could not deserialize an answer. The kernel serves later calls. */
  | "unreadable";

/** No kernel answers in the worker. Every pending and later call of its client rejects with this error. */
export class KernelUnavailable extends Error {
  readonly code = "KERNEL_UNAVAILABLE";
  readonly reason: KernelFault;
  /** The next step; empty where nothing useful is known. */
  readonly hint: string;

  constructor(reason: KernelFault, message: string, hint = "") {
    super(message);
    this.name = "KernelUnavailable";
    this.reason = reason;
    this.hint = hint;
  }
}

/** Worker to page. The page may listen later than the worker speaks, so the page asks as well. */
type StartState =
  | { readonly state: "starting" | "ready" }
  | { readonly state: "failed"; readonly message: string; readonly hint: string };

/** The worker's end: reports how far its kernel is, now, on every change, and when asked. */
export function reportStart(kernel: Kernel | Promise<Kernel>, page: Endpoint): void {
  const line = multiplexedEndpoint(page, LANE);
  let current: StartState = { state: "starting" };
  const report = (state: StartState): void => {
    current = state;
    line.postMessage(state);
  };
  line.addEventListener("message", () => line.postMessage(current));
  report(current);
  Promise.resolve(kernel).then(
    () => report({ state: "ready" }),
    (error: unknown) => report(failureOf(error)),
  );
}

function failureOf(error: unknown): StartState {
  const { code, message, hints } = Object(error) as { readonly [name: string]: unknown };
  const { operatorHint, hint = operatorHint } = Object(hints) as { readonly [name: string]: unknown };
  const text = typeof message === "string" ? message : String(error);
  return {
    state: "failed",
    message: typeof code === "string" ? `${code}: ${text}` : text,
    hint: typeof hint === "string" ? hint : "",
  };
}

/**
 * The page's end: resolves when the worker's kernel is ready.
 *
 * Rejects with {@link KernelUnavailable} when the worker cannot start, its kernel cannot be created, or both take longer than `timeoutMs`.
 */
export function kernelStarted(worker: Endpoint, timeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const policy = watchPolicy((_, directive) => directive === "worker-src");
  const line = multiplexedEndpoint(worker, LANE);
  const seen: { exposed: boolean; error?: string | undefined } = { exposed: false };

  const onState = (event: Event): void => {
    const state = (event as MessageEvent<StartState>).data;
    seen.exposed = true;
    if (state.state === "ready") resolve();
    if (state.state === "failed") reject(bootFailed(state.message, state.hint));
  };
  const onError = (event: Event): void => {
    const error = errorText(event);
    // An exposed kernel can still become ready: an uncaught error does not end a worker.
    if (seen.exposed) seen.error = error;
    else if (error !== undefined) reject(threw(error));
    else void policy.lacks().then((source) => reject(notLoaded(source)));
  };
  const onUnreadable = (): void => reject(unreadable());

  line.addEventListener("message", onState);
  worker.addEventListener("error", onError);
  worker.addEventListener("messageerror", onUnreadable);
  line.start?.();
  line.postMessage("ask");
  const timer =
    timeoutMs > LONGEST_TIMEOUT_MS
      ? undefined
      : setTimeout(() => reject(timedOut(timeoutMs, seen.exposed, seen.error)), timeoutMs);
  return promise.finally(() => {
    clearTimeout(timer);
    policy.leave();
    line.removeEventListener("message", onState);
    worker.removeEventListener("error", onError);
    worker.removeEventListener("messageerror", onUnreadable);
  });
}

/**
 * A worker, where the browser makes one. WebKit refuses at once what the page's policy forbids; other engines report it in an event of the worker.
 *
 * Rejects with {@link KernelUnavailable} for such a refusal.
 */
export async function startedWorker(start: () => Worker): Promise<Worker> {
  const policy = watchPolicy((_, directive) => directive === "worker-src");
  try {
    return start();
  } catch (error) {
    if (error instanceof DOMException && error.name === "SecurityError") throw notLoaded(await policy.lacks());
    throw error;
  } finally {
    policy.leave();
  }
}

/** Absent where the file did not run: then the event has no error in it. */
function errorText(event: Event): string | undefined {
  const { message, filename, lineno } = event as Partial<ErrorEvent>;
  if (message === undefined || message === "") return undefined;
  return filename ? `${message} (${filename}:${lineno ?? 0})` : message;
}

function notLoaded(source: string | undefined): KernelUnavailable {
  const what = "The browser did not run the file of the kernel's worker";
  if (source !== undefined)
    return new KernelUnavailable(
      "not-loaded",
      `${what}: the page's Content-Security-Policy lacks ${source}.`,
      `Add ${source} to the page's Content-Security-Policy.`,
    );
  return new KernelUnavailable(
    "not-loaded",
    `${what}. The file or one of its imports is missing, is not JavaScript, or the browser blocks it. The browser does not report which.`,
    "Request the worker's address and its imports: each must answer 200 with a JavaScript media type. The browser's console and network panel name the file.",
  );
}

function threw(error: string): KernelUnavailable {
  return new KernelUnavailable(
    "threw",
    `The kernel's worker threw before it called exposeKernel: ${error}.`,
    "Correct the worker's script.",
  );
}

function bootFailed(message: string, hint: string): KernelUnavailable {
  return new KernelUnavailable("boot-failed", `The worker could not create its kernel: ${message}`, hint);
}

function timedOut(timeoutMs: number, exposed: boolean, error: string | undefined): KernelUnavailable {
  const also = error === undefined ? "" : ` The worker reported: ${error}.`;
  if (exposed)
    return new KernelUnavailable(
      "timed-out",
      `The kernel was not ready within ${timeoutMs} ms: the promise that the worker gave to exposeKernel did not settle.${also}`,
      "Find the step of the worker's boot that does not end, or raise `startTimeoutMs` of connectKernel.",
    );
  return new KernelUnavailable(
    "timed-out",
    `The kernel's worker did not call exposeKernel within ${timeoutMs} ms.`,
    "Call exposeKernel at the top level of the worker's script, before any await, or raise `startTimeoutMs` of connectKernel.",
  );
}

function unreadable(): KernelUnavailable {
  return new KernelUnavailable(
    "unreadable",
    "The page could not deserialize an answer of the kernel's worker.",
    "The outcome of a pending call is in the kernel's audit log.",
  );
}

export type KernelUse = <Answer extends Promise<unknown>>(ask: () => Answer) => Promise<Awaited<Answer>>;

/** Sends a request once the kernel is ready, and ends it where its answer cannot be read. Requests keep their order. */
export function kernelUse(worker: Endpoint, ready: Promise<void>): KernelUse {
  const pending = new Set<(error: KernelUnavailable) => void>();
  worker.addEventListener("messageerror", () => {
    // The browser does not report whose answer it was.
    for (const reject of pending) reject(unreadable());
  });
  return async (ask) => {
    await ready;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    pending.add(reject);
    ask().then(resolve, reject);
    return promise.finally(() => pending.delete(reject)) as Promise<never>;
  };
}

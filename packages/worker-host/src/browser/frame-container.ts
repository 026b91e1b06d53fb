import { type Hints, IsolateFailure } from "@keyhole/kernel";

/** Between a page and its kernel's worker. */
export const CONTAINER_ENDPOINT = "keyhole.container";

/** Default deadline of an isolate's start. */
export const START_MS = 30_000;

/**
 * The content of a worker: a JavaScript module, a WebAssembly module, or the interpreter with a
 * JavaScript module.
 */
export type Shell = "module" | "wasm" | "interpreter";

/**
 * The part of the browser host that needs a document: it puts frames with workers into the page. Everything in it crosses a message
 * boundary unchanged, so that a kernel in a worker uses the page's container from afar.
 */
export interface FrameContainer {
  /** Opens one hidden frame with one worker in it, which runs the given shell, and hands the worker `port`. Never rejects. */
  open(id: string, port: MessagePort, shell: Shell): Promise<ContainerOutcome>;
  /** Stops the worker and removes its frame. Idempotent. */
  close(id: string): void | Promise<void>;
  /** Tells which frames died by themselves. The last listener counts. */
  watch(onLost: (id: string, reason: string) => void): void | Promise<void>;
}

export type ContainerOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: "UNSUPPORTED_HOST" | "ISOLATE_LOST";
      readonly message: string;
      readonly hints: Partial<Hints>;
    };

/** The sources that a page's Content-Security-Policy needs for isolates. */
const requiredSources: Readonly<Record<Requirement, string>> = {
  frameScript:
    "script-src 'nonce-…' (and pass the page's nonce as the option `nonce`), or the digest of @keyhole/worker-host/csp",
  worker: "worker-src blob:",
  imports: "script-src blob:",
  wasm: "script-src 'wasm-unsafe-eval'",
  trustedTypes: "trusted-types keyhole",
};

type Requirement = "frameScript" | "worker" | "imports" | "wasm" | "trustedTypes";

/** The page's policy stands in the way: a frame made from text inherits it. */
export function blockedByPolicy(requirement: Requirement): Extract<ContainerOutcome, { ok: false }> {
  return {
    ok: false,
    code: "UNSUPPORTED_HOST",
    message: `The page's Content-Security-Policy blocks isolates: it lacks ${requiredSources[requirement]}.`,
    hints: { operatorHint: `Add ${requiredSources[requirement]} to the page's Content-Security-Policy.` },
  };
}

export function containerFailure({ code, message, hints }: Extract<ContainerOutcome, { ok: false }>): IsolateFailure {
  return new IsolateFailure(code, message, hints);
}

import { knownOptions } from "@keyhole/kernel/foreign";
import shell from "keyhole:../guest/worker.ts?iife";
import frameScript from "keyhole:./frame.ts?iife";
import type { FrameHello, FrameMessage, PageMessage } from "./frame-message.ts";
import { trusted } from "./trusted-types.ts";
import {
  blockedByPolicy,
  type FrameContainer,
  type Shell,
  START_MS,
  type ContainerOutcome,
} from "./frame-container.ts";

export interface DomFrameContainerOptions {
  /** The nonce of the page's Content-Security-Policy, where it has one. Default: a random one. */
  readonly nonce?: string;
  /** Milliseconds until a frame's worker has to run. A start takes about 60 ms; a busy machine takes seconds. Default 30,000. */
  readonly startTimeoutMs?: number;
}

/** Between a frame's `load` and the question whether the page's policy blocks its script. */
const SCRIPT_MS = 500;
const HEARTBEAT_MS = 1_000;
/**
 * Unanswered in a row. Beats are counted, not milliseconds: a page that is throttled or busy beats more slowly. The page and
 * the frame can share a starved machine unequally, so that a few late answers prove nothing.
 */
const MISSED_BEATS = 10;

/** Bundling drops what a module is by itself: in sloppy functions callers and receivers would show. */
const strictShell = `"use strict";${shell}`;

interface ContainedFrame {
  readonly element: HTMLIFrameElement;
  /** Takes the port of the frame's own document. */
  onUp: (port: MessagePort) => void;
  port: MessagePort | undefined;
  /** Rejects the pending start of a removed frame. */
  onRemoved: () => void;
  /** Until then the deadline of its start holds: a frame that still loads answers no ping. */
  isStarted: boolean;
  missed: number;
}

/**
 * Puts isolates into the page. Each tool has one hidden frame without an origin, under a policy
 * that allows nothing but its own scripts. The frame holds one dedicated worker, which inherits
 * both.
 *
 * @param script the script of a module's worker. Only tests pass another one, to test the frame
 * without the shell
 */
export function domFrameContainer(
  options: DomFrameContainerOptions = {},
  script: string = strictShell,
): FrameContainer {
  const known = knownOptions(options, { nonce: true, startTimeoutMs: 1 }, "domFrameContainer");
  return new DomFrameContainer(known, script);
}

class DomFrameContainer implements FrameContainer {
  readonly #nonce: string;
  readonly #startTimeoutMs: number;
  readonly #scripts: Readonly<Record<Shell, () => string | Promise<string>>>;
  readonly #frames = new Map<string, ContainedFrame>();
  /** By their keys: frames whose document has not been heard of. */
  readonly #loading = new Map<string, ContainedFrame>();
  /** Isolates whose script is on its way: nothing else would know of one that is given up. */
  readonly #opening = new Set<string>();
  #onLost: (id: string, reason: string) => void = () => {};
  #heartbeat: ReturnType<typeof setInterval> | undefined;

  constructor({ nonce = randomNonce(), startTimeoutMs = START_MS }: DomFrameContainerOptions, script: string) {
    this.#nonce = nonce;
    this.#startTimeoutMs = startTimeoutMs;
    this.#scripts = {
      module: () => script,
      // Not part of pages that never ask for them.
      wasm: async () => (await import("keyhole:./wasm-shell.ts?iife")).default,
      interpreter: async () => (await import("keyhole:./interpreter-worker.ts?iife")).default,
    };
  }

  async open(id: string, port: MessagePort, shell: Shell): Promise<ContainerOutcome> {
    this.#opening.add(id);
    const script = await Promise.resolve(this.#scripts[shell]()).catch(() => undefined);
    if (!this.#opening.delete(id)) return lost("The isolate's frame closed before it had started.");
    if (script === undefined) return lost("The frame cannot load the isolate's script.");
    const frame = this.#add(id);
    if (frame === undefined) return blockedByPolicy("trustedTypes");
    const outcome = await started(frame, { nonce: this.#nonce, script, port, startTimeoutMs: this.#startTimeoutMs });
    if (outcome.ok) frame.isStarted = true;
    else this.close(id);
    return outcome;
  }

  close(id: string): void {
    this.#opening.delete(id);
    const frame = this.#frames.get(id);
    if (frame === undefined) return;
    this.#frames.delete(id);
    for (const [key, each] of this.#loading) if (each === frame) this.#loading.delete(key);
    if (this.#frames.size === 0) {
      removeEventListener("message", this.#onMessage);
      clearInterval(this.#heartbeat);
    }
    frame.element.remove();
    frame.onRemoved();
  }

  watch(listener: (id: string, reason: string) => void): void {
    this.#onLost = listener;
  }

  /** `undefined` where the page's policy asks for Trusted Types and does not allow ours. */
  #add(id: string): ContainedFrame | undefined {
    const key = randomNonce();
    const element = frameElement(this.#nonce, key);
    if (element === undefined) return undefined;
    const frame: ContainedFrame = {
      element,
      onUp: () => {},
      port: undefined,
      onRemoved: () => {},
      isStarted: false,
      missed: 0,
    };
    if (this.#frames.size === 0) {
      addEventListener("message", this.#onMessage);
      this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
    }
    this.#frames.set(id, frame);
    this.#loading.set(key, frame);
    return frame;
  }

  /**
   * Any page around this one can put a document of its own into the frame, and so into `contentWindow`: the key is the frame's alone. Its port
   * goes to no other document, at no later time.
   */
  readonly #onMessage = ({ data, ports: [port] }: MessageEvent<Partial<FrameHello> | null>): void => {
    const key = typeof data === "object" ? data?.key : undefined;
    const frame = key === undefined ? undefined : this.#loading.get(key);
    if (key === undefined || frame === undefined || port === undefined) return;
    this.#loading.delete(key);
    frame.onUp(port);
  };

  #beat(): void {
    for (const [id, frame] of this.#frames) {
      if (!frame.isStarted) continue;
      frame.missed += 1;
      if (frame.missed > MISSED_BEATS) {
        this.close(id);
        this.#onLost(id, "its process died");
      } else post(frame, { type: "ping" });
    }
  }
}

/** 128 bits, as CSP Level 3 (section 7.1) asks for. */
function randomNonce(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
}

function post({ port }: ContainedFrame, message: PageMessage, transfer: Transferable[] = []): void {
  port?.postMessage(message, transfer);
}

function frameElement(nonce: string, key: string): HTMLIFrameElement | undefined {
  const element = document.createElement("iframe");
  element.sandbox.add("allow-scripts");
  element.hidden = true;
  element.title = "isolate";
  // The policy names the directives that `default-src` does not cover; a frame made from text inherits the page's policy on top of this one.
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' blob: 'wasm-unsafe-eval'`,
    "worker-src blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const html = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><script nonce="${nonce}" data-key="${key}">${frameScript}</script>`;
  try {
    element.srcdoc = trusted().createHTML(html);
  } catch {
    return undefined;
  }
  return element;
}

interface StartOptions {
  readonly nonce: string;
  readonly script: string;
  readonly port: MessagePort;
  readonly startTimeoutMs: number;
}

/** Puts the frame into the page and waits until its worker runs, or until it is known why it does not. */
function started(
  frame: ContainedFrame,
  { nonce, script, port, startTimeoutMs }: StartOptions,
): Promise<ContainerOutcome> {
  const { promise, resolve } = Promise.withResolvers<ContainerOutcome>();
  let missing = "its document did not load";
  const tooSlow = setTimeout(
    () => resolve(lost(`The isolate's frame did not start within ${startTimeoutMs} ms: ${missing}.`)),
    startTimeoutMs,
  );
  let silent: ReturnType<typeof setTimeout> | undefined;
  frame.element.onload = () => {
    missing = "its script did not answer";
    // Where nothing blocks the script, it is late: it has until the deadline.
    silent = setTimeout(() => {
      if (isBlocked(nonce)) resolve(blockedByPolicy("frameScript"));
    }, SCRIPT_MS);
  };
  frame.onRemoved = () => resolve(lost("The isolate's frame closed before it had started."));
  const onMessage = ({ data: message }: MessageEvent<FrameMessage>): void => {
    switch (message.type) {
      case "started":
        return resolve({ ok: true });
      case "failed":
        return resolve(lost(`The isolate's worker did not start: ${message.reason}.`));
      case "blocked":
        return resolve(blockedByPolicy(message.directive.startsWith("worker") ? "worker" : "frameScript"));
      case "pong":
        frame.missed = 0;
        return undefined;
    }
  };
  frame.onUp = (own) => {
    clearTimeout(silent);
    frame.element.onload = null;
    missing = "its worker did not answer";
    frame.port = own;
    own.onmessage = onMessage;
    post(frame, { type: "start", script }, [port]);
  };
  document.documentElement.append(frame.element);
  return promise.finally(() => {
    clearTimeout(tooSlow);
    clearTimeout(silent);
  });
}

/** A frame cannot see that the browser blocked its script. The page runs one under the same rules and sees. */
function isBlocked(nonce: string): boolean {
  const probe = document.createElement("script");
  probe.nonce = nonce;
  probe.dataset["probe"] = "";
  // The same text: a policy that allows it by its digest allows no other.
  probe.textContent = trusted().createScript(frameScript);
  document.documentElement.append(probe);
  const ran = "ran" in probe.dataset;
  probe.remove();
  return !ran;
}

function lost(message: string): Extract<ContainerOutcome, { ok: false }> {
  return {
    ok: false,
    code: "ISOLATE_LOST",
    message,
    hints: { hint: "Try again; a page that is short of memory cannot open isolates." },
  };
}

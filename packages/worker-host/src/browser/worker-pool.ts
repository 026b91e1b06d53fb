import { IsolateFailure } from "@keyhole/kernel";
import { FairSemaphore } from "@keyhole/kernel/fair-semaphore";
import { takeSlot } from "../isolate-slot.ts";
import { GuestChannel } from "../protocol/channel.ts";
import type { InterpreterBoot } from "./interpreter.ts";
import { blockedByPolicy, type FrameContainer, type Shell, containerFailure } from "./frame-container.ts";

/**
 * Chromium lets a spinning worker run for 2.0 s after it was terminated, other engines for milliseconds, and none tells when the thread is
 * gone. A worker that was not busy goes at once.
 */
const SPIN_MS = 2_500;

/**
 * Frames that start at the same time. More are not there sooner, and keep the page from everything else: a hundred at once for 0.8 s in one piece, where
 * two leave it free after 0.1 s.
 */
const STARTING = 2;

/** Opening a frame keeps the page and the frames' process busy: the tool that just got a pair runs first. */
const REFILL_MS = 50;

/** Frames for commands. Apart from those of tools: a tool that waits for a command keeps its own. */
export const COMMAND_FRAMES = 4;

/** One frame with one worker, and the way to it. It serves one tool or command, once. */
export interface PooledWorker {
  readonly id: string;
  readonly channel: GuestChannel;
  /** Ends it, whoever noticed first that it must end. Idempotent. */
  readonly retire: (reason: string) => void;
}

export interface WorkerPoolOptions {
  /** For workers with the interpreter; without it there are none. */
  readonly boot: InterpreterBoot | undefined;
  /** Pairs at the same time, those for commands apart. */
  readonly size: number;
  readonly warm: number;
  /** The shell of the warm pairs. */
  readonly warmShell: Shell;
  readonly startTimeoutMs: number;
}

/** Opens pairs, keeps some warm, and knows which still hold a place. */
export class WorkerPool {
  readonly #container: FrameContainer;
  readonly #boot: InterpreterBoot | undefined;
  readonly #slots: FairSemaphore;
  readonly #commandSlots = new FairSemaphore(COMMAND_FRAMES);
  readonly #starts = new FairSemaphore(STARTING);
  readonly #warmSize: number;
  readonly #warmShell: Shell;
  readonly #startTimeoutMs: number;
  readonly #warm: PooledWorker[] = [];
  readonly #all = new Map<string, PooledWorker>();
  #warming: Promise<void> | undefined;
  #closed = false;

  constructor(container: FrameContainer, { boot, size, warm, warmShell, startTimeoutMs }: WorkerPoolOptions) {
    this.#container = container;
    this.#boot = boot;
    this.#slots = new FairSemaphore(size);
    this.#warmSize = warm;
    this.#warmShell = warmShell;
    this.#startTimeoutMs = startTimeoutMs;
  }

  /** The first pair is waited for: what a page lacks is then said at once, and not by the first call. */
  async start(): Promise<void> {
    await this.#container.watch((id, reason) => this.#all.get(id)?.retire(reason));
    if (this.#warmSize > 0) this.#warm.push(await this.#open(this.#warmShell, warming, this.#slots));
    this.#warmUp();
  }

  async take(shell: Shell, tool: string, isWanted?: () => boolean): Promise<PooledWorker> {
    if (this.#closed) throw closed();
    if (shell !== this.#warmShell) {
      // Warm pairs are of no use to it, and would never free their slots.
      if (this.#slots.free === 0) this.#warm.shift()?.retire("another tool needs its slot");
      return this.#open(shell, tool, this.#slots, isWanted);
    }
    let pair = this.#warm.shift();
    while (pair !== undefined && !pair.channel.open) pair = this.#warm.shift();
    pair ??= await this.#open(shell, tool, this.#slots, isWanted);
    setTimeout(() => this.#warmUp(), REFILL_MS);
    return pair;
  }

  async takeForCommand(name: string, isWanted?: () => boolean): Promise<PooledWorker> {
    if (this.#closed) throw closed();
    return this.#open("wasm", name, this.#commandSlots, isWanted);
  }

  close(): void {
    this.#closed = true;
    for (const pair of this.#all.values()) pair.retire("the host was closed");
  }

  /** Never waits for a place: those are for tools. What fails here fails again, and is reported, when a tool needs it. */
  #warmUp(): void {
    if (this.#closed || this.#warming !== undefined || this.#warm.length >= this.#warmSize || this.#slots.free === 0)
      return;
    this.#warming = this.#open(this.#warmShell, warming, this.#slots).then(
      (pair) => {
        this.#warming = undefined;
        this.#warm.push(pair);
        this.#warmUp();
      },
      () => {
        this.#warming = undefined;
      },
    );
  }

  /** @param tool the tool that starts: the queue serves tools round-robin */
  async #open(shell: Shell, tool: string, slots: FairSemaphore, isWanted?: () => boolean): Promise<PooledWorker> {
    const release = await takeSlot(slots, tool, isWanted);
    let started: (() => void) | undefined;
    try {
      started = await takeSlot(this.#starts, tool, isWanted);
      if (!this.#closed) return await this.#openIn(shell, release, started);
    } finally {
      if (started) started();
      else release();
    }
    release();
    throw closed();
  }

  /** @param onEnd called when it ends before it has started */
  async #openIn(shell: Shell, release: () => void, onEnd: () => void): Promise<PooledWorker> {
    const id = crypto.randomUUID?.() ?? String(Math.random());
    const { port1, port2 } = new MessageChannel();
    if (shell === "interpreter") port1.postMessage(this.#boot);
    const channel = new GuestChannel(port1, (reason) => retire(`protocol: ${reason}`), { metered: shell !== "module" });
    let ended: string | undefined;
    const retire = (reason: string): void => {
      if (ended !== undefined) return;
      ended = reason;
      onEnd();
      const { busy } = channel;
      channel.close(reason);
      this.#all.delete(id);
      void this.#container.close(id);
      // The slot is free after the end of the thread, not after the end of its listeners.
      if (busy) setTimeout(release, SPIN_MS);
      else release();
    };
    const pair = { id, channel, retire };
    this.#all.set(id, pair);
    const outcome = await this.#container.open(id, port2, shell);
    if (!outcome.ok) return fail(retire, containerFailure(outcome));
    const holds = shell === "interpreter" ? "interpreter" : "shell";
    const late = `its ${holds} did not answer within ${this.#startTimeoutMs} ms`;
    const tooSlow = setTimeout(() => retire(late), this.#startTimeoutMs);
    const ready = await channel.ready;
    clearTimeout(tooSlow);
    if (ready === undefined)
      return fail(retire, new IsolateFailure("ISOLATE_LOST", `The isolate did not start: ${ended ?? "it ended"}.`));
    // The interpreter's worker says so when it cannot compile: it imports nothing.
    if (!ready.imports)
      return fail(retire, containerFailure(blockedByPolicy(shell === "interpreter" ? "wasm" : "imports")));
    if (!ready.wasm && shell !== "interpreter") return fail(retire, containerFailure(blockedByPolicy("wasm")));
    return pair;
  }
}

/** The key of warm pairs in the queue, which counts as one more tool. */
const warming = "";

function closed(): IsolateFailure {
  return new IsolateFailure("ISOLATE_LOST", "The host is closed.");
}

function fail(retire: (reason: string) => void, failure: IsolateFailure): never {
  retire(failure.message);
  throw failure;
}

import { type Isolate, IsolateFailure, type IsolateHost, type RegisteredTool } from "@keyhole/kernel";
import { filesBroker } from "../brokers/files.ts";
import { opfsStore } from "../brokers/files-opfs.ts";
import { kvBroker } from "../brokers/kv.ts";
import { indexedDbKv } from "../brokers/kv-indexeddb.ts";
import { netBroker } from "../brokers/net.ts";
import { type GuestChannel, openChannel } from "../protocol/channel.ts";
import type { LoadedCode, LoadedModule } from "../protocol/message.ts";
import type { SpawnLimits } from "../brokers/spawn.ts";
import { withCommands } from "../process/tool.ts";
import type { WasiCommand } from "../wasm/command/command.ts";
import { wasiRunners } from "../wasm/command/index.ts";
import { faultOf, loadedModule, meteredCode } from "../wasm/tool/host.ts";
import type { ResumableCalls } from "../wasm/interpreter/resumable.ts";
import { domStage } from "./dom-stage.ts";
import type { InterpreterBoot } from "./interpreter.ts";
import { nobodyWaits, Starts } from "../starts.ts";
import { Slots } from "./slots.ts";
import { blockedByPolicy, type FrameStage, type Shell, stageFailure } from "./stage.ts";

export interface BrowserHostOptions {
  /** Where frames are put. Default: the document of this page. A kernel in a worker needs its page's: {@link remoteStage}. */
  readonly stage?: FrameStage;
  /**
   * How a tool in JavaScript runs in its worker. `worker`: by the browser, at its full speed. `interpreter`: in QuickJS under WebAssembly, some fifty times slower, with
   * exact bounds for fuel and memory; the page then needs no `blob:` in its `script-src`. Default `worker`.
   */
  readonly isolation?: "worker" | "interpreter";
  /** WASI commands that tools may run, or be, by the names under which they know them. Each run is in a frame of its own, under fuel. Default: none. */
  readonly commands?: Readonly<Record<string, WasiCommand>>;
  /** What goes into a command and comes out of it, and how many run. */
  readonly commandLimits?: SpawnLimits;
  /** Frame and worker pairs that wait for a tool: the next isolate is then there in milliseconds. About 3 MB each. Default 1. */
  readonly warm?: number;
  /** Frames at the same time, warm ones and killed ones that still spin included. Beyond, opening waits its turn; commands have four more. Default 32. */
  readonly maxIsolates?: number;
}

/** A module that takes this long to load is not going to end; the largest package loads in a fraction of it. */
const LOAD_MS = 5_000;
const READY_MS = 10_000;
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
const COMMAND_FRAMES = 4;

/** One frame with one worker, and the way to it. It serves one tool or command, once. */
interface Pair {
  readonly id: string;
  readonly channel: GuestChannel;
  /** Ends it, whoever noticed first that it must end. Idempotent. */
  readonly retire: (reason: string) => void;
}

/**
 * Runs each tool in a dedicated worker inside a hidden frame of its own, which has no origin, no network and no storage: the browser enforces
 * that, not a script. A tool that never yields is stopped with its thread. Modules of WebAssembly run under fuel there.
 *
 * @throws TypeError for a command whose name is none or whose module cannot be one
 * @throws IsolateFailure `UNSUPPORTED_HOST` when there is no document and no `stage`, or when the page's Content-Security-Policy stands in
 * the way; the message names the directive
 * @example
 * const kernel = await createKernel({ host: await browserHost(), policy });
 */
export async function browserHost(options: BrowserHostOptions = {}): Promise<IsolateHost> {
  const capacity = options.maxIsolates ?? 32;
  const stage = options.stage ?? pageStage();
  const interpreted = options.isolation === "interpreter";
  // Not part of pages that never ask for it.
  const interpreter = interpreted ? await import("./interpreter.ts") : undefined;
  const boot = await interpreter?.interpreterBoot();
  const pairs = new Pairs(stage, boot, capacity, options.warm ?? 1);
  await pairs.start();
  const files = filesBroker(opfsStore());
  const host: IsolateHost = {
    name: "browser",
    sources: ["module", "wasm"],
    enforces: ({ source }) => (interpreted || source === "wasm" ? ["fuel", "memoryBytes"] : []),
    preempts: true,
    capacity,
    brokers: [netBroker(), files, kvBroker(indexedDbKv())],
    check: faultOf,
    open: (tool, isWanted) => openIsolate(tool, pairs, interpreter?.resumableCalls, isWanted),
    ...(interpreter &&
      boot && {
        snapshotKind: () => interpreter.interpreterKind(boot),
        async thaw({ id }, snapshot) {
          const pair = await pairs.take("module", id);
          return isolateOf(pair, interpreter.resumableCalls(pair.channel, snapshot));
        },
      }),
    close: async () => pairs.close(),
  };
  const open = (module: LoadedModule, name: string): Promise<Isolate> =>
    loadPair(pairs.takeForCommand(name), module, name);
  const runners = wasiRunners(options.commands ?? {}, { open, places: COMMAND_FRAMES, files, compiled: false });
  return withCommands(host, runners, options.commandLimits);
}

function pageStage(): FrameStage {
  if (typeof document === "object") return domStage();
  throw new IsolateFailure(
    "UNSUPPORTED_HOST",
    "There is no document here to put isolates into.",
    "In a worker pass `stage: remoteStage()`, and call `serveStage(worker)` in the page.",
  );
}

async function openIsolate(
  tool: RegisteredTool,
  pairs: Pairs,
  resumable: ((channel: GuestChannel) => ResumableCalls) | undefined,
  isWanted: (() => boolean) | undefined,
): Promise<Isolate> {
  if (tool.body.source === "inline" || tool.body.source === "process")
    throw new IsolateFailure(
      "UNSUPPORTED_HOST",
      `The browser's isolates run modules and WebAssembly, and ${tool.id} is ${tool.body.source}.`,
    );
  const { source, code } = tool.body;
  // A frame is in another agent cluster, which a compiled module does not reach.
  const loadable = source === "module" ? code : loadedModule(tool, meteredCode(tool));
  return loadPair(
    pairs.take(source, tool.id, isWanted),
    loadable,
    tool.id,
    source === "module" ? resumable : undefined,
  );
}

async function loadPair(
  opening: Promise<Pair>,
  code: LoadedCode,
  name: string,
  resumable?: (channel: GuestChannel) => ResumableCalls,
): Promise<Isolate> {
  const pair = await opening;
  const { channel, retire } = pair;
  const tooSlow = setTimeout(() => retire("it did not load in time"), LOAD_MS);
  const loaded = await channel.load(code);
  clearTimeout(tooSlow);
  if (loaded.kind !== "loaded") {
    retire("the tool did not load");
    throw loaded.kind === "failed"
      ? new IsolateFailure("TOOL_ERROR", `The module of ${name} failed to load: ${loaded.name}: ${loaded.message}`)
      : new IsolateFailure("TOOL_ERROR", `The module of ${name} failed to load: ${loaded.reason}.`);
  }
  return isolateOf(pair, resumable?.(channel));
}

function isolateOf({ channel, retire }: Pair, resumable: ResumableCalls | undefined): Isolate {
  return {
    call: (call, port) => (resumable ?? channel).call(call, port),
    ...(resumable && { suspend: () => resumable.suspend() }),
    terminate: retire,
    get alive() {
      return channel.open;
    },
  };
}

/** Opens pairs, keeps some warm, and knows which still hold a place. */
class Pairs {
  readonly #stage: FrameStage;
  /** What a worker for JavaScript holds. */
  readonly #shell: "module" | "interpreter";
  readonly #boot: InterpreterBoot | undefined;
  readonly #slots: Slots;
  readonly #commandSlots = new Slots(COMMAND_FRAMES);
  readonly #starts = new Starts(STARTING);
  readonly #warmSize: number;
  readonly #warm: Pair[] = [];
  readonly #all = new Map<string, Pair>();
  #warming: Promise<void> | undefined;
  #closed = false;

  constructor(stage: FrameStage, boot: InterpreterBoot | undefined, size: number, warm: number) {
    this.#stage = stage;
    this.#boot = boot;
    this.#shell = boot === undefined ? "module" : "interpreter";
    this.#slots = new Slots(size);
    this.#warmSize = warm;
  }

  /** The first pair is waited for: what a page lacks is then said at once, and not by the first call. */
  async start(): Promise<void> {
    await this.#stage.watch((id, reason) => this.#all.get(id)?.retire(reason));
    if (this.#warmSize > 0) this.#warm.push(await this.#open(this.#shell, warming, this.#slots));
    this.#warmUp();
  }

  async take(source: "module" | "wasm", tool: string, isWanted?: () => boolean): Promise<Pair> {
    if (this.#closed) throw closed();
    if (source === "wasm") return this.#open(source, tool, this.#slots, isWanted);
    let pair = this.#warm.shift();
    while (pair !== undefined && !pair.channel.open) pair = this.#warm.shift();
    pair ??= await this.#open(this.#shell, tool, this.#slots, isWanted);
    setTimeout(() => this.#warmUp(), REFILL_MS);
    return pair;
  }

  async takeForCommand(name: string): Promise<Pair> {
    if (this.#closed) throw closed();
    return this.#open("wasm", name, this.#commandSlots);
  }

  close(): void {
    this.#closed = true;
    for (const pair of this.#all.values()) pair.retire("the host was closed");
  }

  /** Never waits for a place: those are for tools. What fails here fails again, and is reported, when a tool needs it. */
  #warmUp(): void {
    if (this.#closed || this.#warming !== undefined || this.#warm.length >= this.#warmSize || this.#slots.free === 0)
      return;
    this.#warming = this.#open(this.#shell, warming, this.#slots).then(
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

  /** @param tool whose start it is: tools take turns */
  async #open(shell: Shell, tool: string, slots: Slots, isWanted?: () => boolean): Promise<Pair> {
    const release = await slots.take();
    const started = await this.#starts.take(tool, isWanted);
    try {
      if (started && !this.#closed) return await this.#openIn(shell, release, started);
    } finally {
      started?.();
    }
    release();
    throw this.#closed ? closed() : nobodyWaits();
  }

  /** @param onEnd called when it ends before it has started */
  async #openIn(shell: Shell, release: () => void, onEnd: () => void): Promise<Pair> {
    const id = crypto.randomUUID?.() ?? String(Math.random());
    const { port1, port2 } = new MessageChannel();
    if (shell === "interpreter") port1.postMessage(this.#boot);
    const channel = openChannel(port1, (reason) => retire(`protocol: ${reason}`), { metered: shell !== "module" });
    let staged = true;
    const retire = (reason: string): void => {
      if (!staged) return;
      staged = false;
      onEnd();
      const { busy } = channel;
      channel.close(reason);
      this.#all.delete(id);
      void this.#stage.close(id);
      // The place is free when the thread is gone, not when nobody listens to it any more.
      if (busy) setTimeout(release, SPIN_MS);
      else release();
    };
    const pair = { id, channel, retire };
    this.#all.set(id, pair);
    const outcome = await this.#stage.open(id, port2, shell);
    if (!outcome.ok) return fail(retire, stageFailure(outcome));
    const tooSlow = setTimeout(() => retire("the shell did not start in time"), READY_MS);
    const ready = await channel.ready;
    clearTimeout(tooSlow);
    if (ready === undefined)
      return fail(retire, new IsolateFailure("ISOLATE_LOST", "The isolate's shell did not start."));
    // The interpreter's worker says so when it cannot compile: it imports nothing.
    if (!ready.imports)
      return fail(retire, stageFailure(blockedByPolicy(shell === "interpreter" ? "wasm" : "imports")));
    if (!ready.wasm && shell !== "interpreter") return fail(retire, stageFailure(blockedByPolicy("wasm")));
    return pair;
  }
}

/** Those that wait for a tool take their turn like those of one. */
const warming = "";

function closed(): IsolateFailure {
  return new IsolateFailure("ISOLATE_LOST", "The host is closed.");
}

function fail(retire: (reason: string) => void, failure: IsolateFailure): never {
  retire(failure.message);
  throw failure;
}

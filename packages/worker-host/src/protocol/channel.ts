import type { CallPort, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import { type CallHistory, newCall, type SuspendedCall, type SuspendedMachine } from "./suspended-call.ts";
import { broken, type BrokenChannel, endingOf, type ProtocolFault } from "./call-state.ts";
import { GuestCall } from "./guest-call.ts";
import { IdleWatch } from "./idle-watch.ts";
import type {
  GuestMessage,
  GuestReady,
  HostMessage,
  LoadedCode,
  MachineMessage,
  MeterMessage,
  PingMessage,
} from "./message.ts";
import { isMeterMessage } from "./meter.ts";
import { parseGuestMessage } from "./parse.ts";

/** The part of `MessagePort` that a channel uses. */
export interface GuestPort {
  postMessage(message: HostMessage | MachineMessage | PingMessage, options?: { transfer: ArrayBuffer[] }): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onmessageerror: ((event: MessageEvent) => void) | null;
  close(): void;
}

export type LoadOutcome =
  | { readonly kind: "loaded" }
  | { readonly kind: "failed"; readonly name: string; readonly message: string }
  | { readonly kind: "lost"; readonly reason: string };

export interface ChannelOptions {
  /** A relay of ours speaks on this port, and passes on what a guest says that cannot reach it. Default: the guest itself speaks. */
  readonly metered?: boolean;
}

/**
 * `starting` lasts until the guest sends `ready`, and `ready` until the host sends the code.
 * `loading` lasts until the guest reports the outcome; after a failure the phase is `ready` again.
 * Calls run in `loaded`. `ended` is final.
 */
type Phase = "starting" | "ready" | "loading" | "loaded" | "ended";

/** The fault of a message in a phase in which the shell would not send it, by type. */
const outOfPhase = {
  ready: "a second ready",
  loaded: "loaded a module that was not sent",
  pong: "an answer that was not asked for",
  "load-failed": "failed to load a module that was not sent",
  log: "a message for a call that is not running",
  progress: "a message for a call that is not running",
  request: "a message for a call that is not running",
  piece: "a message for a call that is not running",
  pull: "a message for a call that is not running",
  outcome: "a message for a call that is not running",
} satisfies Record<GuestMessage["type"], string>;

/**
 * The host's end of the way to one guest, which is taken to be hostile. Owns the port. One message that is not exactly what the shell would send at that moment
 * ends the channel: there is no second chance, because the shell makes no mistakes and the tool has no business on this port.
 */
export class GuestChannel {
  readonly #port: GuestPort;
  readonly #onBroken: (reason: string) => void;
  readonly #metered: boolean;
  readonly #calls = new Map<string, GuestCall>();
  readonly #idle = new IdleWatch({
    isIdle: () => this.#calls.size === 0,
    ask: () => this.#port.postMessage({ type: "ping" }),
    onSilent: () => {
      this.#wentOn();
      this.#lose("something of the tool runs, and no call does");
    },
  });
  #wentOn = (): void => {};
  readonly #ready = Promise.withResolvers<GuestReady | undefined>();
  readonly #loading = Promise.withResolvers<LoadOutcome>();
  #phase: Phase = "starting";
  #ending: BrokenChannel = { kind: "lost", reason: "closed" };
  #busyAtEnd = false;
  #peakMemoryBytes = 0;
  #suspending: PromiseWithResolvers<SuspendedMachine | undefined> | undefined;

  /** @param onBroken called once when the guest broke the protocol, not when the host closed the channel */
  constructor(port: GuestPort, onBroken: (reason: string) => void, { metered = false }: ChannelOptions = {}) {
    this.#port = port;
    this.#onBroken = onBroken;
    this.#metered = metered;
    port.onmessage = ({ data }) => this.#receive(data);
    port.onmessageerror = () => this.#fail(broken("a message that cannot be read"));
  }

  /** Settles with `undefined` when the channel ended first. */
  get ready(): Promise<GuestReady | undefined> {
    return this.#ready.promise;
  }

  get open(): boolean {
    return this.#phase !== "ended";
  }

  /** Whether code of the tool may be running; of a closed channel: whether it was when it was closed. */
  get busy(): boolean {
    return this.#phase === "ended" ? this.#busyAtEnd : this.#phase === "loading" || this.#calls.size > 0;
  }

  /** The most memory of the tool, as the relay counted it. 0 where nobody counts. */
  get peakMemoryBytes(): number {
    return this.#peakMemoryBytes;
  }

  /** @param memoryBytes as {@link LoadMessage} has it */
  load(code: LoadedCode, memoryBytes?: number): Promise<LoadOutcome> {
    if (this.#phase === "ready") {
      this.#phase = "loading";
      this.#port.postMessage({ type: "load", code, memoryBytes });
    }
    return this.#loading.promise;
  }

  call(call: IsolateCall, port: CallPort): Promise<IsolateOutcome> {
    if (this.#phase !== "loaded") return Promise.resolve(this.#ending);
    return this.#begin(call, port, newCall, { type: "call", call });
  }

  /** Takes the machine of the one call that runs. `undefined`: not exactly one does, and nothing has changed. Only of a metered channel to an interpreter. */
  suspend(): Promise<SuspendedMachine | undefined> {
    if (this.#phase !== "loaded") return Promise.resolve(undefined);
    this.#suspending = Promise.withResolvers();
    this.#port.postMessage({ type: "suspend" });
    return this.#suspending.promise;
  }

  /** In place of {@link GuestChannel.load} and `call`: the machine runs this call already. The host sends its outstanding requests again. */
  resume(call: IsolateCall, port: CallPort, before: SuspendedCall): Promise<IsolateOutcome> {
    if (this.#phase !== "ready") return Promise.resolve(this.#ending);
    this.#phase = "loaded";
    return this.#begin(call, port, before, { type: "thaw", machine: before.machine });
  }

  /** Calls back when something of the tool runs while no call does. The channel ends then. */
  onWentOn(heard: () => void): void {
    this.#wentOn = heard;
  }

  /**
   * Drops the handler, closes the port and settles everything as `lost`, in this order, so late
   * messages of the guest reach no code.
   */
  close(reason: string): void {
    if (this.#phase !== "ended") this.#end({ kind: "lost", reason });
  }

  /** @param message brings the call to the guest */
  #begin(
    call: IsolateCall,
    port: CallPort,
    before: CallHistory,
    message: HostMessage | MachineMessage,
  ): Promise<IsolateOutcome> {
    const running = new GuestCall(call, port, this.#line, before);
    this.#calls.set(call.callId, running);
    this.#port.postMessage(message);
    running.begin(before);
    return running.outcome;
  }

  readonly #line = {
    post: (message: HostMessage, transfer: ArrayBuffer[] = []) => this.#port.postMessage(message, { transfer }),
    failed: () => {
      if (this.#phase !== "ended") this.#lose("the host's message cannot be cloned");
    },
    ended: (callId: string) => {
      this.#calls.delete(callId);
      // Our relays stop their calls.
      if (this.#calls.size === 0 && !this.#metered && this.#phase !== "ended") this.#idle.begin();
    },
  };

  #receive(data: unknown): void {
    if (this.#phase === "ended") return; // Firefox delivers what was queued before the port was closed.
    if (this.#metered && isMeterMessage(data)) return this.#fromRelay(data);
    const message = parseGuestMessage(data);
    const fault = typeof message === "string" ? broken(message) : this.#hear[this.#phase](message);
    if (fault !== undefined) this.#fail(fault);
  }

  /** The one handler of each phase. */
  readonly #hear: Readonly<Record<Exclude<Phase, "ended">, (message: GuestMessage) => ProtocolFault | undefined>> = {
    starting: (message) => this.#whileStarting(message),
    ready: ({ type }) => broken(outOfPhase[type]),
    loading: (message) => this.#whileLoading(message),
    loaded: (message) => this.#whileLoaded(message),
  };

  #whileStarting(message: GuestMessage): ProtocolFault | undefined {
    if (message.type !== "ready") return broken(outOfPhase[message.type]);
    this.#phase = "ready";
    this.#ready.resolve(message);
    return undefined;
  }

  #whileLoading(message: GuestMessage): ProtocolFault | undefined {
    if (message.type !== "loaded" && message.type !== "load-failed") return broken(outOfPhase[message.type]);
    if (message.type === "loaded") {
      this.#phase = "loaded";
      this.#loading.resolve({ kind: "loaded" });
    } else {
      this.#phase = "ready";
      this.#loading.resolve({ kind: "failed", name: message.name, message: message.message });
    }
    return undefined;
  }

  #whileLoaded(message: GuestMessage): ProtocolFault | undefined {
    if (message.type === "pong" && this.#idle.heard()) return undefined;
    const running = "callId" in message ? this.#calls.get(message.callId) : undefined;
    if (!("callId" in message) || running === undefined) return broken(outOfPhase[message.type]);
    return running.hear(message);
  }

  #fromRelay(message: MeterMessage): void {
    switch (message.type) {
      case "usage": {
        const { callId, fuelUsed, peakMemoryBytes } = message;
        this.#peakMemoryBytes = peakMemoryBytes;
        return this.#calls.get(callId)?.used({ fuelUsed, peakMemoryBytes });
      }
      case "exhausted":
        return this.#calls.get(message.callId)?.settle(message.outcome);
      case "suspended":
        return this.#suspending?.resolve(message.machine);
      case "died":
        if (message.last !== undefined) this.#receive(message.last);
        if (message.by) this.#calls.get(message.by.callId)?.settle(message.by.outcome);
        if (this.#phase !== "ended") this.#lose(message.reason);
    }
  }

  #fail(fault: ProtocolFault): void {
    this.#end(endingOf(fault));
    this.#onBroken(fault.kind === "broken" ? fault.reason : "too many messages");
  }

  #lose(reason: string): void {
    this.#end({ kind: "lost", reason });
    this.#onBroken(reason);
  }

  #end(ending: BrokenChannel): void {
    this.#busyAtEnd = this.busy;
    this.#phase = "ended";
    this.#idle.end();
    this.#ending = ending;
    this.#port.onmessage = null;
    this.#port.onmessageerror = null;
    this.#port.close();
    this.#ready.resolve(undefined);
    this.#loading.resolve({ kind: "lost", reason: ending.kind === "lost" ? ending.reason : "too many messages" });
    this.#suspending?.resolve(undefined);
    for (const call of this.#calls.values()) call.settle(ending);
  }
}

import type { CallPort, CapabilityRequest, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import { checkOutcome, type Course, pieceFault, pullFault } from "./course.ts";
import { protocolLimits } from "./limits.ts";
import type {
  GuestMessage,
  GuestPiece,
  GuestReady,
  HostMessage,
  LoadedCode,
  MachineMessage,
  MeterMessage,
} from "./message.ts";
import { isMeterMessage } from "./meter.ts";
import type { SuspendedMachine } from "../wasm/interpreter/port.ts";
import { parseGuestMessage, parseRequest } from "./parse.ts";

/** The part of `MessagePort` that a channel uses. */
export interface GuestPort {
  postMessage(message: HostMessage | MachineMessage, options?: { transfer: ArrayBuffer[] }): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onmessageerror: ((event: MessageEvent) => void) | null;
  close(): void;
}

export type LoadOutcome =
  | { readonly kind: "loaded" }
  | { readonly kind: "failed"; readonly name: string; readonly message: string }
  | { readonly kind: "lost"; readonly reason: string };

/** The host's end of the way to one guest. Owns the port. */
export interface GuestChannel {
  /** Settles with `undefined` when the channel ended first. */
  readonly ready: Promise<GuestReady | undefined>;
  load(code: LoadedCode): Promise<LoadOutcome>;
  call(call: IsolateCall, port: CallPort): Promise<IsolateOutcome>;
  /** Takes the machine of the one call that runs. `undefined`: not exactly one does, and nothing has changed. Only of a metered channel to an interpreter. */
  suspend(): Promise<SuspendedMachine | undefined>;
  /** In place of {@link GuestChannel.load} and `call`: the machine runs this call already. Its outstanding requests are asked again. */
  resume(call: IsolateCall, port: CallPort, before: ResumedCall): Promise<IsolateOutcome>;
  /** Drops the handler, closes the port and settles everything as `lost`, in this order: what the guest still sends reaches nobody. */
  close(reason: string): void;
  readonly open: boolean;
  /** Whether code of the tool may be running; of a closed channel: whether it was when it was closed. */
  readonly busy: boolean;
}

/** What a call had done when it was suspended. */
export interface ResumedCall {
  readonly messages: number;
  readonly requests: number;
  readonly outstanding: readonly { readonly number: number; readonly request: CapabilityRequest }[];
  readonly machine: SuspendedMachine;
}

export interface ChannelOptions {
  /** A relay of ours speaks on this port, and passes on what a guest says that cannot reach it. Default: the guest itself speaks. */
  readonly metered?: boolean;
}

interface RunningCall extends Course {
  readonly port: CallPort;
  readonly settle: (outcome: IsolateOutcome) => void;
  messages: number;
  requests: number;
  requestsInFlight: number;
}

const anew: Omit<ResumedCall, "machine"> = { messages: 0, requests: 0, outstanding: [] };

type Ending = Extract<IsolateOutcome, { kind: "lost" | "too-large" }>;

/**
 * Speaks the protocol with a guest that is taken to be hostile. One message that is not exactly what the shell would send at that
 * moment ends the channel: there is no second chance, because the shell makes no mistakes and the tool has no business on this port.
 *
 * @param onBroken called once when the guest broke the protocol, not when the host closed the channel
 */
export function openChannel(
  port: GuestPort,
  onBroken: (reason: string) => void,
  { metered = false }: ChannelOptions = {},
): GuestChannel {
  const calls = new Map<string, RunningCall>();
  const ready = Promise.withResolvers<GuestReady | undefined>();
  const loading = Promise.withResolvers<LoadOutcome>();
  let phase: "starting" | "ready" | "loading" | "loaded" | "ended" = "starting";
  let ending: Ending = { kind: "lost", reason: "closed" };
  let busyAtEnd = false;
  let suspending: PromiseWithResolvers<SuspendedMachine | undefined> | undefined;

  const isBusy = (): boolean => (phase === "ended" ? busyAtEnd : phase === "loading" || calls.size > 0);

  const end = (as: Ending): void => {
    busyAtEnd = isBusy();
    phase = "ended";
    ending = as;
    port.onmessage = null;
    port.onmessageerror = null;
    port.close();
    ready.resolve(undefined);
    loading.resolve({ kind: "lost", reason: as.kind === "lost" ? as.reason : "too many messages" });
    suspending?.resolve(undefined);
    for (const { settle } of calls.values()) settle(as);
  };
  const broken = (reason: string): void => {
    end({ kind: "lost", reason: `protocol: ${reason}` });
    onBroken(reason);
  };
  const lost = (reason: string): void => {
    end({ kind: "lost", reason });
    onBroken(reason);
  };
  /** The kernel's end never rejects, and all that it says can be sent. Where that is not so, the guest would wait for ever. */
  const failed = (): void => {
    if (phase !== "ended") lost("what the host says cannot be sent");
  };
  const flooded = (limit: number): void => {
    end({ kind: "too-large", what: "messages", limit });
    onBroken("too many messages");
  };

  const withCall = (callId: string, use: (running: RunningCall) => void): void => {
    const running = calls.get(callId);
    if (running === undefined) broken("a message for a call that is not running");
    else use(running);
  };

  const counted = (running: RunningCall, pass: () => void): void => {
    running.messages += 1;
    if (running.messages > protocolLimits.messages) flooded(protocolLimits.messages);
    else pass();
  };

  const request = (running: RunningCall, message: Extract<GuestMessage, { type: "request" }>): void => {
    if (message.request !== running.requests) return broken("a request out of order");
    running.requests += 1;
    running.requestsInFlight += 1;
    if (running.requests > protocolLimits.requests) return flooded(protocolLimits.requests);
    if (running.requestsInFlight > protocolLimits.requestsInFlight) return flooded(protocolLimits.requestsInFlight);
    const asked = parseRequest(message);
    if (typeof asked === "string") return broken(asked);
    ask(running, message.request, asked);
  };

  const ask = (running: RunningCall, request: number, asked: CapabilityRequest): void => {
    const { callId } = running.call;
    const answered = running.port.request(asked).then((reply) => {
      running.requestsInFlight -= 1;
      const transfer = reply.ok && reply.body ? [reply.body.buffer as ArrayBuffer] : [];
      // A reply after the call has ended is for nobody.
      if (calls.get(callId) === running) port.postMessage({ type: "reply", callId, request, reply }, { transfer });
    });
    answered.catch(failed);
  };

  const piece = (running: RunningCall, message: GuestPiece): void => {
    const fault = pieceFault(running, message);
    if (fault !== undefined) return broken(fault);
    running.pieces += 1;
    running.piecesInFlight += 1;
    const { callId } = running.call;
    const taken = running.port.write?.(message.bytes) ?? Promise.resolve(false);
    const answered = taken.then((more) => {
      running.piecesInFlight -= 1;
      if (calls.get(callId) === running) port.postMessage({ type: "taken", callId, more });
    });
    answered.catch(failed);
  };

  const pull = (running: RunningCall): void => {
    const fault = pullFault(running);
    if (fault !== undefined) return broken(fault);
    running.body = "pulled";
    const { callId } = running.call;
    const answered = (running.port.read?.() ?? Promise.resolve(undefined)).then((bytes) => {
      running.body = bytes?.length ? "open" : "over";
      const transfer = bytes ? [bytes.buffer as ArrayBuffer] : [];
      if (calls.get(callId) === running) port.postMessage({ type: "pulled", callId, bytes }, { transfer });
    });
    answered.catch(failed);
  };

  /** @param send what brings the call to the guest */
  const begin = (
    call: IsolateCall,
    callPort: CallPort,
    before: Omit<ResumedCall, "machine">,
    send: () => void,
  ): Promise<IsolateOutcome> => {
    const { promise, resolve } = Promise.withResolvers<IsolateOutcome>();
    const { callId } = call;
    const cancel = (): void => port.postMessage({ type: "cancel", callId });
    const settle = (outcome: IsolateOutcome): void => {
      calls.delete(callId);
      callPort.signal.removeEventListener("abort", cancel);
      resolve(outcome);
    };
    const { messages, requests, outstanding } = before;
    const running: RunningCall = {
      call,
      port: callPort,
      settle,
      messages,
      requests,
      requestsInFlight: outstanding.length,
      pieces: 0,
      piecesInFlight: 0,
      body: "open",
    };
    calls.set(callId, running);
    send();
    for (const { number, request: asked } of outstanding) ask(running, number, asked);
    if (callPort.signal.aborted) cancel();
    else callPort.signal.addEventListener("abort", cancel, { once: true });
    return promise;
  };

  const handlers = {
    ready: (message) => {
      if (phase !== "starting") return broken("a second ready");
      phase = "ready";
      ready.resolve(message);
    },
    loaded: () => {
      if (phase !== "loading") return broken("loaded what was not sent");
      phase = "loaded";
      loading.resolve({ kind: "loaded" });
    },
    "load-failed": ({ name, message }) => {
      if (phase !== "loading") return broken("failed to load what was not sent");
      phase = "ready";
      loading.resolve({ kind: "failed", name, message });
    },
    log: ({ callId, level, message }) =>
      withCall(callId, (running) => counted(running, () => running.port.log({ level, message }))),
    progress: ({ type: _, callId, ...progress }) =>
      withCall(callId, (running) => counted(running, () => running.port.progress(progress))),
    request: (message) => withCall(message.callId, (running) => request(running, message)),
    piece: (message) => withCall(message.callId, (running) => piece(running, message)),
    pull: ({ callId }) => withCall(callId, pull),
    outcome: ({ callId, outcome }) =>
      withCall(callId, (running) => {
        if (outcome.kind === "returned" && running.piecesInFlight > 0)
          return broken("an end before all of it was taken");
        const checked = checkOutcome(outcome, running.call);
        if (checked === undefined) return broken("an output of another kind than the tool's");
        running.settle(checked);
      }),
  } satisfies { readonly [Type in GuestMessage["type"]]: (message: Extract<GuestMessage, { type: Type }>) => void };
  const dispatch = new Map<GuestMessage["type"], (message: never) => void>(
    Object.entries(handlers) as [GuestMessage["type"], (message: never) => void][],
  );

  const meterHandlers = {
    usage: ({ callId, fuelUsed, peakMemoryBytes }) => calls.get(callId)?.port.used?.({ fuelUsed, peakMemoryBytes }),
    exhausted: ({ callId, outcome }) => calls.get(callId)?.settle(outcome),
    suspended: ({ machine }) => suspending?.resolve(machine),
    died: ({ reason, by }) => {
      if (by) calls.get(by.callId)?.settle(by.outcome);
      lost(reason);
    },
  } satisfies { readonly [Type in MeterMessage["type"]]: (message: Extract<MeterMessage, { type: Type }>) => void };

  port.onmessage = ({ data }) => {
    if (phase === "ended") return; // Firefox delivers what was queued before the port was closed.
    if (metered && isMeterMessage(data)) return meterHandlers[data.type](data as never);
    const message = parseGuestMessage(data);
    if (typeof message === "string") broken(message);
    else dispatch.get(message.type)?.(message as never);
  };
  port.onmessageerror = () => broken("a message that cannot be read");

  return {
    ready: ready.promise,
    load(code) {
      if (phase === "ready") {
        phase = "loading";
        port.postMessage({ type: "load", code });
      }
      return loading.promise;
    },
    call(call, callPort) {
      if (phase !== "loaded") return Promise.resolve(ending);
      return begin(call, callPort, anew, () => port.postMessage({ type: "call", call }));
    },
    suspend() {
      if (phase !== "loaded") return Promise.resolve(undefined);
      suspending = Promise.withResolvers();
      port.postMessage({ type: "suspend" });
      return suspending.promise;
    },
    resume(call, callPort, before) {
      if (phase !== "ready") return Promise.resolve(ending);
      phase = "loaded";
      return begin(call, callPort, before, () => port.postMessage({ type: "thaw", machine: before.machine }));
    },
    close(reason) {
      if (phase !== "ended") end({ kind: "lost", reason });
    },
    get open() {
      return phase !== "ended";
    },
    get busy() {
      return isBusy();
    },
  };
}

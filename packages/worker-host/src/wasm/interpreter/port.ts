import type { GuestPort } from "../../protocol/channel.ts";
import type { Exhaustion, HostMessage, LoadMessage, MachineMessage, MeterMessage } from "../../protocol/message.ts";
import { isMeterMessage } from "../../protocol/meter.ts";
import type { Image, SuspendedMachine } from "../../protocol/suspended-call.ts";
import { MAX_FUEL, MAX_STACK_BYTES } from "../meter/fuel-global.ts";
import type { Engine } from "./engine.ts";
import { services } from "./services.ts";
import type { HostValue } from "./values.ts";
import { type HostFunctions, type Slice, Vm } from "./vm.ts";

export interface VmBounds {
  /**
   * Fuel of a call that has no bound of its own, and of loading a package. Default: as much as can be counted, so that only the deadline ends a
   * call; 20 billion for loading.
   */
  readonly fuel?: number;
  /** Memory of an isolate whose calls have no bound of their own. Default 512 MiB. */
  readonly memoryBytes?: number;
}

const MEMORY_BYTES = 536_870_912;
/** The machine parses and runs a package's code once. Code that takes longer than seconds does not end. */
const LOAD_FUEL = 20_000_000_000;
const BOOT_FUEL = 1_000_000_000;
/** Behind the outcome of a call: for the shell, and for what a tool tidies up. Some ten milliseconds. */
const AFTER_FUEL = 10_000_000;

interface Running {
  /** `undefined`: work that belongs to no call. */
  readonly callId: string | undefined;
  readonly fuel: number;
  fuelLeft: number;
  fuelUsed: number;
  readonly memoryBytes: number;
}

/** Boots a machine up to the point where a tool can be loaded. Every isolate begins as a copy of it. */
export function bootImage(engine: Engine, shell: string): Image {
  return Vm.boot(engine, { ...services, post: () => undefined }, shell, BOOT_FUEL).image();
}

/**
 * A QuickJS as the port that a channel owns. It runs on this thread. It handles one message
 * completely, up to the end of its fuel, before the next one. Where it does not share its thread,
 * nothing else happens here meanwhile.
 *
 * @param sharesThread whether the kernel runs on this thread too. Default `false`: the thread
 * belongs to the machine
 */
export function openVmPort(engine: Engine, image: Image, bounds: VmBounds = {}, sharesThread = false): GuestPort {
  const port = new VmPort(engine, image, bounds, sharesThread);
  port.ready();
  return port;
}

class VmPort implements GuestPort {
  onmessage: GuestPort["onmessage"] = null;
  onmessageerror: GuestPort["onmessageerror"] = null;
  readonly #bounds: VmBounds;
  readonly #running = new Map<string, Running>();
  readonly #restore: (image: Image) => Vm;
  #vm: Vm | undefined;
  /** The call whose fuel the slice uses. */
  #current: Running = nobody;
  /** The last word of a call that alone ran here. It is said when nothing of the call runs any more. */
  #held: unknown;
  #isLoaded = false;
  /** Of the messages so far. As a port does it: the sender continues first. */
  #handled = Promise.resolve();
  #unhandled = 0;

  constructor(engine: Engine, image: Image, bounds: VmBounds, sharesThread: boolean) {
    this.#bounds = bounds;
    const host: HostFunctions = {
      ...services,
      post: ([text, body]) => {
        this.#posted(text, body);
        return undefined;
      },
    };
    this.#restore = (of) => Vm.restore(engine, host, of, sharesThread);
    this.#vm = this.#restore(image);
  }

  ready(): void {
    queueMicrotask(() => this.#say({ type: "ready", imports: true, wasm: false }));
  }

  postMessage(message: HostMessage | MachineMessage): void {
    // A computing machine does not wait: the port would lose a message of that time.
    if (message.type === "suspend" && this.#unhandled > 0)
      return queueMicrotask(() => this.#say({ type: "suspended", machine: undefined }));
    this.#unhandled += 1;
    this.#handled = this.#handled.then(async () => {
      await this.#handle(message);
      this.#unhandled -= 1;
    });
  }

  close(): void {
    this.#vm?.stop();
    this.#vm = undefined;
  }

  async #handle(message: HostMessage | MachineMessage): Promise<void> {
    if (this.#vm === undefined) return;
    if (message.type === "suspend") return this.#say({ type: "suspended", machine: this.#suspend(this.#vm) });
    if (message.type === "thaw") return this.#thaw(message.machine);
    if (message.type === "load") return this.#load(this.#vm, message);
    const callId = message.type === "call" ? message.call.callId : message.callId;
    if (message.type === "call") {
      const { fuel = this.#bounds.fuel ?? MAX_FUEL, memoryBytes = this.#bounds.memoryBytes ?? MEMORY_BYTES } =
        message.call;
      this.#running.set(callId, running(Math.min(fuel, MAX_FUEL), memoryBytes, callId));
    }
    const call = this.#running.get(callId);
    if (call === undefined) return;
    const slice = await this.#run(this.#vm, call, message, bytesIn(message));
    if (slice.state !== "running") this.#end(slice);
    else if (this.#held !== undefined) this.onmessage?.({ data: this.#held } as MessageEvent);
    this.#held = undefined;
  }

  /** Afterwards the port is dead. */
  #suspend(vm: Vm): SuspendedMachine | undefined {
    const [entry, ...more] = this.#running;
    if (entry === undefined || more.length > 0) return undefined;
    const [callId, { fuel, fuelUsed, memoryBytes }] = entry;
    this.#vm = undefined;
    return { image: vm.image(), callId, used: { fuel, fuelUsed, memoryBytes } };
  }

  #thaw({ image, callId, used: { fuel, fuelUsed, memoryBytes } }: SuspendedMachine): void {
    this.#vm = this.#restore(image);
    this.#running.set(callId, { callId, fuel, fuelLeft: fuel - fuelUsed, fuelUsed, memoryBytes });
  }

  async #load(vm: Vm, message: LoadMessage): Promise<void> {
    const { fuel = LOAD_FUEL, memoryBytes = MEMORY_BYTES } = this.#bounds;
    const loading = running(Math.min(fuel, LOAD_FUEL), message.memoryBytes ?? memoryBytes);
    const { state } = await this.#run(vm, loading, message);
    if (this.#isLoaded && state === "running") return;
    const reason =
      state === "running"
        ? "it waits for something that never comes: while a tool loads, it has no requests"
        : `it ended with ${state} while it loaded`;
    this.#say({ type: "load-failed", name: "Error", message: reason });
    this.#die(state);
  }

  async #run(vm: Vm, running: Running, message: HostMessage, body?: Uint8Array): Promise<Slice> {
    this.#current = running;
    const slice = await vm.deliver(running.fuelLeft, running.memoryBytes, textFor(message), body);
    const last = this.#current;
    last.fuelLeft -= slice.fuelUsed;
    last.fuelUsed += slice.fuelUsed;
    return slice;
  }

  /** From inside the machine. What it says is text that the tool may have forged: the channel checks every word. */
  #posted(text: HostValue, body: HostValue): void {
    let message: unknown;
    try {
      message = JSON.parse(typeof text === "string" ? text : "");
    } catch {
      message = undefined;
    }
    if (body instanceof Uint8Array) attach(message, body);
    const ended = this.#running.get(endedCall(message) ?? "");
    const bound = ended && this.#vm ? exhaustion(message, ended) : undefined;
    // Words of the relay are not the guest's to say.
    const said = bound ?? (isObject(message) && !isMeterMessage(message) ? message : undefined);
    this.#isLoaded ||= isObject(message) && (message["type"] === "loaded" || message["type"] === "load-failed");
    if (ended && this.#vm && this.#handOver(this.#vm, ended)) this.#held = said;
    else this.onmessage?.({ data: said } as MessageEvent);
  }

  /**
   * A call has ended: what runs on in this slice is paid by another call, which may have waited for this one.
   *
   * @returns whether there is none: then nothing has to run on
   */
  #handOver(vm: Vm, ended: Running): boolean {
    this.#running.delete(ended.callId ?? "");
    const isCurrent = this.#current === ended;
    this.#sayUsage(ended.callId ?? "", ended.fuelUsed + (isCurrent ? vm.usedInSlice : 0), vm.memoryBytes);
    if (!isCurrent) return false;
    const [successor] = this.#running.values();
    this.#current = successor ?? running(AFTER_FUEL, ended.memoryBytes);
    vm.handOver(this.#current.fuelLeft);
    return successor === undefined;
  }

  #end({ state }: Slice): void {
    const { callId, fuel, fuelUsed } = this.#current;
    if (this.#vm === undefined) return;
    if (callId === undefined) return this.#die("work after the end of its call");
    this.#sayUsage(callId, fuelUsed, this.#vm.memoryBytes);
    if (state === "out-of-fuel") this.#die(state, { callId, outcome: { kind: "out-of-fuel", limit: fuel } });
    else this.#die(state, state === "too-deep" ? { callId, outcome: tooDeep } : undefined);
  }

  #die(how: string, by?: Exhaustion): void {
    this.#vm = undefined;
    const last = this.#held === undefined ? undefined : { last: this.#held };
    this.#say({ type: "died", reason: `the interpreter ended with ${how}`, ...(by && { by }), ...last });
  }

  #sayUsage(callId: string, fuelUsed: number, peakMemoryBytes: number): void {
    this.#say({ type: "usage", callId, fuelUsed, peakMemoryBytes });
  }

  #say(
    data: MeterMessage | { readonly type: "ready"; readonly imports: true; readonly wasm: false } | LoadFailed,
  ): void {
    this.onmessage?.({ data } as MessageEvent);
  }
}

function running(fuel: number, memoryBytes: number, callId?: string): Running {
  return { callId, fuel, fuelLeft: fuel, fuelUsed: 0, memoryBytes };
}

const nobody = running(0, 0);

interface LoadFailed {
  readonly type: "load-failed";
  readonly name: string;
  readonly message: string;
}

const tooDeep = { kind: "too-large", what: "stack", limit: MAX_STACK_BYTES } as const;

/** Bytes go beside the text. A call's bounds are not the guest's to know: reading them would cost more or less of them. */
function textFor(message: HostMessage): string {
  if (message.type === "load") return JSON.stringify({ type: message.type, code: message.code });
  if (message.type !== "call") return JSON.stringify(message, withoutBytes);
  const { fuel: _, memoryBytes: __, ...call } = message.call;
  return JSON.stringify({ ...message, call }, withoutBytes);
}

function withoutBytes(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? undefined : value;
}

function bytesIn(message: HostMessage): Uint8Array | undefined {
  if (message.type === "pulled") return message.bytes;
  return message.type === "reply" && message.reply.ok ? message.reply.body : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Bytes come beside the text: they belong where the shell left a gap. */
function attach(message: unknown, body: Uint8Array): void {
  if (!isObject(message)) return;
  const { outcome } = message;
  if (message["type"] === "request") message["body"] = body;
  else if (message["type"] === "piece") message["bytes"] = body;
  else if (isObject(outcome) && isObject(outcome["output"])) outcome["output"]["bytes"] = body;
}

function endedCall(message: unknown): string | undefined {
  if (!isObject(message) || message["type"] !== "outcome") return undefined;
  return typeof message["callId"] === "string" ? message["callId"] : undefined;
}

/** Errors by which QuickJS itself says that a bound was reached, and that the tool did not catch. */
const exhaustions = new Map<string, "memory" | "stack">([
  ["InternalError: out of memory", "memory"],
  ["RangeError: invalid string length", "memory"],
  ["RangeError: invalid array length", "memory"],
  ["RangeError: invalid array buffer length", "memory"],
  ["RangeError: Maximum call stack size exceeded", "stack"],
  ["InternalError: stack overflow", "stack"],
]);

function exhaustion(message: unknown, { callId = "", memoryBytes }: Running): MeterMessage | undefined {
  const outcome = isObject(message) ? message["outcome"] : undefined;
  if (!isObject(outcome) || outcome["kind"] !== "threw") return undefined;
  const what = exhaustions.get(`${String(outcome["name"])}: ${String(outcome["message"])}`);
  if (what === undefined) return undefined;
  const bound = what === "stack" ? tooDeep : ({ kind: "out-of-memory", limit: memoryBytes } as const);
  return { type: "exhausted", callId, outcome: bound };
}

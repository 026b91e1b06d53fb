import type { LogEntry } from "@keyhole/kernel";
import { type CallRealm, idleSources } from "@keyhole/kernel/guest";
import { sealClock } from "./seal-clock.ts";
import { sealLocale } from "./seal-locale.ts";
import { completeStreams } from "./seal-streams.ts";

export interface SealOptions {
  /** Names that stay beyond the allow-list, such as what the shell itself still looks up by name. */
  readonly keep?: readonly string[];
}

/** Gives `Date`, `Math.random` and `console` one call's clock, seed and log while that call runs; of several the last one to enter counts. */
export interface SealedRealm extends CallRealm {
  /** Names that the engine did not let go; empty where it lets all go. */
  readonly left: readonly string[];
}

type RealmCall = Parameters<CallRealm["enter"]>[0];

/**
 * What stays, by name: the language, and the web's pure data types. Everything else goes, so that what an engine adds tomorrow is gone
 * as well. Isolation does not rest on this list (the frame's policy, or the isolate's missing network, is what holds); same results on every host do.
 */
const language =
  "AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date DisposableStack Error " +
  "EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object " +
  "Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array " +
  "Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet WebAssembly decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval " +
  "globalThis isFinite isNaN parseFloat parseInt undefined unescape";
const web =
  "AbortController AbortSignal ByteLengthQueuingStrategy CountQueuingStrategy CustomEvent DOMException Event EventTarget Headers ReadableStream " +
  "Response TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream URL URLSearchParams WritableStream atob btoa console " +
  "queueMicrotask self structuredClone";

/** Members of what stays that reach a clock, a thread, a boundary string or the host's own objects. */
const members: Readonly<Record<string, readonly string[]>> = {
  AbortSignal: ["timeout"],
  Atomics: ["pause", "wait", "waitAsync"],
  // The order in which the engine's own threads finish is no function of the input; the synchronous constructors stay.
  WebAssembly: ["compile", "compileStreaming", "instantiate", "instantiateStreaming"],
  URL: ["createObjectURL", "revokeObjectURL"],
  "Response.prototype": ["blob", "formData"],
};

/**
 * Turns a realm into one where the same call gives the same result: logical clock, seeded randomness, UTC, one locale, no ambient
 * names. Call it once, before any code of the tool is loaded, from a script that took what it needs before.
 *
 * There are no timers: what a tool waits for is a capability's reply, and in logical time nothing else passes. A deadline is the kernel's.
 *
 * @example
 * const realm = seal(globalThis);
 * const tool = await import(url);
 * const outcome = await runCall(tool.default, call, transport, realm);
 */
export function seal(global: object, options: SealOptions = {}): SealedRealm {
  let current: RealmCall = { ...idleSources, log: () => undefined };
  sealClock(global, () => current.now());
  sealLocale();
  fix(Math, "random", () => current.random());
  hideStacks();
  sealMemory();
  completeStreams();
  for (const [path, names] of Object.entries(members)) removeMembers(global, path, names);
  const left = removeGlobals(global, new Set([...language.split(" "), ...web.split(" "), ...(options.keep ?? [])]));
  fix(
    global,
    "console",
    quietConsole((entry) => current.log(entry)),
  );
  return {
    left,
    enter(call) {
      const before = current;
      current = call;
      return () => {
        if (current === call) current = before;
      };
    },
  };
}

/** Positions in a stack name the shell and random addresses. Firefox has no such limit. */
function hideStacks(): void {
  // A hook of V8 and QuickJS: the engine would call the tool wherever an error comes to be, also while it works for the host.
  fix(Error, "prepareStackTrace", undefined);
  if (!Object.hasOwn(Error, "stackTraceLimit")) return;
  Reflect.set(Error, "stackTraceLimit", 0); // WebKit takes notice of an assignment only.
  fix(Error, "stackTraceLimit", 0);
}

/** A value that tool code can neither replace nor remove. */
function fix(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: false, enumerable: false, configurable: false });
}

/** Wherever on the chain an engine keeps them: workerd has a class of its own above `Response`. */
function removeMembers(global: object, path: string, names: readonly string[]): void {
  let target: unknown = global;
  for (const step of path.split(".")) target = target === undefined ? undefined : Reflect.get(target as object, step);
  let holder = target as object | null | undefined;
  while (holder && holder !== Object.prototype && holder !== Function.prototype) {
    for (const name of names) Reflect.deleteProperty(holder, name);
    holder = Reflect.getPrototypeOf(holder);
  }
}

/** Own names and inherited ones: engines keep many globals on the prototypes of the global object. */
function removeGlobals(global: object, keep: ReadonlySet<string>): readonly string[] {
  const left = new Set<string>();
  for (
    let holder: object | null = global;
    holder !== null && holder !== Object.prototype;
    holder = Reflect.getPrototypeOf(holder)
  ) {
    // `EventTarget` itself stays, and so do its methods: nothing is dispatched at the global object any more.
    if (holder === (globalThis as { readonly EventTarget?: { readonly prototype: object } }).EventTarget?.prototype)
      continue;
    for (const name of Object.getOwnPropertyNames(holder)) {
      if (name === "constructor" && holder !== global) hideConstructor(holder);
      else if (!keep.has(name) && !Reflect.deleteProperty(holder, name)) left.add(name);
    }
  }
  return [...left];
}

/** `Object.getPrototypeOf(self).constructor` is the way back to the scope's class. */
function hideConstructor(prototype: object): void {
  Reflect.defineProperty(prototype, "constructor", { value: undefined, writable: false, configurable: false });
}

/** A memory that two threads share is a clock. */
function sealMemory(): void {
  if (typeof WebAssembly !== "object") return;
  const Memory = WebAssembly.Memory;
  function SealedMemory(this: unknown, descriptor: WebAssembly.MemoryDescriptor): WebAssembly.Memory {
    const { initial, maximum, shared } = descriptor;
    if (shared) throw new TypeError("shared memory is not available to tools");
    return Reflect.construct(
      Memory,
      [{ initial, ...(maximum !== undefined && { maximum }) }],
      new.target ?? SealedMemory,
    ) as WebAssembly.Memory;
  }
  fix(SealedMemory, "name", "Memory");
  fix(SealedMemory, "prototype", Memory.prototype);
  fix(Memory.prototype, "constructor", SealedMemory);
  fix(WebAssembly, "Memory", SealedMemory);
}

const levels = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error" } as const;

/** `console` as libraries expect it, ending in the call's own log. */
function quietConsole(log: (entry: LogEntry) => void): object {
  const line =
    (level: LogEntry["level"]) =>
    (...values: unknown[]) =>
      log({ level, message: values.map(String).join(" ") });
  return Object.freeze(Object.fromEntries(Object.entries(levels).map(([name, level]) => [name, line(level)])));
}

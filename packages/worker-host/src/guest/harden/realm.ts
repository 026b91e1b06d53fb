import type { LogEntry } from "@keyhole/kernel";
import { type CallRealm, idleSources } from "@keyhole/kernel/guest";
import { fix } from "./fix.ts";
import { hardenClock } from "./clock.ts";
import { hardenClone } from "./clone.ts";
import { hardenErrors, hardenEvaluation } from "./errors.ts";
import { hardenLocale } from "./locale.ts";
import { hardenEvents, hardenMembers } from "./members.ts";
import { hardenPipes } from "./pipe.ts";
import { hardenResponse } from "./response.ts";
import { completeStreams } from "./streams.ts";
import { hardenWebAssembly } from "./wasm.ts";

type RealmCall = Parameters<CallRealm["enter"]>[0];

/**
 * The names that stay: the language, and the web's pure data types. Everything else goes, later
 * additions of an engine included. Equal results on every host depend on this list. Isolation does
 * not: the frame's policy, or the isolate's missing network, holds it.
 */
const language =
  "AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date DisposableStack Error " +
  "EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Iterator JSON Map Math NaN Number Object " +
  "Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array " +
  "Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet WebAssembly decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval " +
  "globalThis isFinite isNaN parseFloat parseInt undefined unescape";
const web =
  "AbortController AbortSignal ByteLengthQueuingStrategy CountQueuingStrategy CustomEvent DOMException Event EventTarget Headers ReadableStream " +
  "Response TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream URL URLSearchParams WritableStream atob btoa console " +
  "queueMicrotask self structuredClone";

/**
 * Turns a realm into one where the same call gives the same result: logical clock, seeded
 * randomness, UTC, no locale, no ambient names. Call it once, before any tool code is loaded, from
 * a script that took its own functions before. The returned realm gives `Date`, `Math.random` and
 * `console` the clock, seed and log of one call while that call runs. Of several calls the last one
 * to enter counts.
 *
 * There are no timers: a tool waits only for replies to its requests, and logical time does not
 * pass otherwise. The kernel owns the deadline.
 *
 * @example
 * const realm = hardenRealm(globalThis);
 * const tool = await import(url);
 * const outcome = await runCall(tool.default, call, transport, realm);
 */
export function hardenRealm(global: object): CallRealm {
  let current: RealmCall = { ...idleSources, log: () => undefined };
  hardenClock(global, () => current.now());
  hardenLocale();
  fix(Math, "random", () => current.random());
  hardenErrors(global);
  hardenEvaluation(global);
  hardenWebAssembly();
  hardenMembers(global);
  hardenEvents(global);
  completeStreams();
  hardenPipes();
  hardenResponse(global);
  hardenClone(global);
  removeGlobals(global, new Set([...language.split(" "), ...web.split(" ")]));
  fix(
    global,
    "console",
    quietConsole((entry) => current.log(entry)),
  );
  return {
    enter(call) {
      const before = current;
      current = call;
      return () => {
        if (current === call) current = before;
      };
    },
  };
}

/** Own names and inherited ones: engines keep many globals on the prototypes of the global object. */
function removeGlobals(global: object, keep: ReadonlySet<PropertyKey>): void {
  for (
    let holder: object | null = global;
    holder !== null && holder !== Object.prototype;
    holder = Reflect.getPrototypeOf(holder)
  ) {
    // `EventTarget` itself stays, and so do its methods: the global object dispatches no event.
    if (holder === (globalThis as { readonly EventTarget?: { readonly prototype: object } }).EventTarget?.prototype)
      continue;
    for (const key of Reflect.ownKeys(holder)) {
      // The replacement is the global object's own; workerd's is still behind it.
      const isReplaced = holder !== global && Object.hasOwn(global, key);
      if (key === "constructor" && holder !== global) hideConstructor(holder);
      else if (key !== Symbol.toStringTag && (isReplaced || !keep.has(key)) && !Reflect.deleteProperty(holder, key))
        // Node keeps the way of its `fetch` under a symbol that can only be written.
        Reflect.set(holder, key, undefined);
    }
  }
}

/** `Object.getPrototypeOf(self).constructor` is the way back to the scope's class. */
function hideConstructor(prototype: object): void {
  Reflect.defineProperty(prototype, "constructor", { value: undefined, writable: false, configurable: false });
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

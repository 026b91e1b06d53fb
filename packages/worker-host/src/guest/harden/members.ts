import { fix } from "./fix.ts";

/**
 * Members that stay, of everything that is not the language itself: of the web's data types
 * (Streams, Fetch, URL, Encoding, DOM standards), and of the two namespaces of the language that
 * reach threads or the machine. The shell removes later additions of an engine too.
 *
 * Gone with the rest: `EventTarget.prototype.when`, another way to listen; `AbortSignal.timeout`, a timer; `Atomics.wait`; `WebAssembly.compile`, whose end depends on
 * the engine's own threads; `URL.createObjectURL`; `DOMException.prototype.stack`.
 */
const kept = {
  AbortController: ["", "abort signal"],
  AbortSignal: ["abort any", "aborted onabort reason throwIfAborted"],
  ByteLengthQueuingStrategy: ["", "highWaterMark size"],
  CountQueuingStrategy: ["", "highWaterMark size"],
  CustomEvent: ["", "detail"],
  DOMException: ["*_ERR", "*_ERR code message name"],
  Event: [
    "AT_TARGET BUBBLING_PHASE CAPTURING_PHASE NONE",
    "AT_TARGET BUBBLING_PHASE CAPTURING_PHASE NONE bubbles cancelable composed composedPath currentTarget defaultPrevented eventPhase isTrusted " +
      "preventDefault stopImmediatePropagation stopPropagation target timeStamp type",
  ],
  EventTarget: ["", "addEventListener dispatchEvent removeEventListener"],
  Headers: ["", "append delete entries forEach get getSetCookie has keys set values"],
  ReadableByteStreamController: ["", "byobRequest close desiredSize enqueue error"],
  ReadableStream: ["from", "cancel getReader locked pipeThrough pipeTo tee values"],
  ReadableStreamBYOBReader: ["", "cancel closed read releaseLock"],
  ReadableStreamBYOBRequest: ["", "respond respondWithNewView view"],
  ReadableStreamDefaultController: ["", "close desiredSize enqueue error"],
  ReadableStreamDefaultReader: ["", "cancel closed read releaseLock"],
  TextDecoder: ["", "decode encoding fatal ignoreBOM"],
  TextDecoderStream: ["", "encoding fatal ignoreBOM readable writable"],
  TextEncoder: ["", "encode encodeInto encoding"],
  TextEncoderStream: ["", "encoding readable writable"],
  TransformStream: ["", "readable writable"],
  TransformStreamDefaultController: ["", "desiredSize enqueue error terminate"],
  URL: [
    "canParse parse",
    "hash host hostname href origin password pathname port protocol search searchParams toJSON toString username",
  ],
  URLSearchParams: ["", "append delete entries forEach get getAll has keys set size sort toString values"],
  WritableStream: ["", "abort close getWriter locked"],
  WritableStreamDefaultController: ["", "error signal"],
  WritableStreamDefaultWriter: ["", "abort close closed desiredSize ready releaseLock write"],
  Atomics: ["add and compareExchange exchange isLockFree load notify or store sub xor"],
  WebAssembly: [
    "CompileError Exception Global Instance JSTag LinkError Memory Module RuntimeError SuspendError Suspending Table Tag promising validate",
  ],
} satisfies Record<string, readonly [statics: string, instances?: string]>;

/** Of every function and every prototype. */
const structural = "length name prototype constructor";

/** Takes every other member away. */
export function hardenMembers(global: object): void {
  const classes = Object.entries(kept).map(([name, [statics, instances]]) => {
    const holder = Reflect.get(global, name) as { readonly prototype?: object } | undefined;
    return { holder, statics, prototype: holder?.prototype, instances };
  });
  // Above `DOMException` is the language.
  const prototypes = new Set<unknown>([
    Object.prototype,
    Error.prototype,
    ...classes.map(({ prototype }) => prototype),
  ]);
  for (const { holder, statics, prototype, instances } of classes) {
    if (holder === undefined) continue; // Not every engine has every one.
    prune(holder, statics);
    if (prototype === undefined || instances === undefined) continue;
    prune(prototype, instances);
    // workerd has classes of its own above the standard's.
    for (let above = Reflect.getPrototypeOf(prototype); above && !prototypes.has(above);) {
      prune(above, instances);
      above = Reflect.getPrototypeOf(above);
    }
  }
}

function prune(holder: object, names: string): void {
  const keep = new Set(`${structural} ${names}`.split(" "));
  for (const name of Object.getOwnPropertyNames(holder)) {
    const isKept = keep.has(name) || (name.endsWith("_ERR") && keep.has("*_ERR"));
    if (!isKept) Reflect.deleteProperty(holder, name);
  }
}

/**
 * Keeps tools from the events of the global object. These events carry facts about the page (a
 * violation of its policy has the nonce and the URL), the machine (going offline) and the shell.
 */
export function hardenEvents(global: object): void {
  const Target = Reflect.get(global, "EventTarget") as { readonly prototype: object } | undefined;
  if (Target === undefined) return;
  const { apply } = Reflect;
  for (const name of ["addEventListener", "dispatchEvent", "removeEventListener"]) {
    const real = Reflect.get(Target.prototype, name) as (...given: unknown[]) => unknown;
    fix(Target.prototype, name, function (this: unknown, ...given: unknown[]): unknown {
      // Without a receiver the engine takes the global object.
      if (this === undefined || this === null || this === global)
        throw new TypeError(`${name} needs a target of its own here`);
      return apply(real, this, given);
    });
  }
}

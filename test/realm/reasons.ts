/** Why something is within a tool's reach, by the first part of its path. */
const roots: Readonly<Record<string, string>> = {
  "the language":
    "(arguments) (template) %Array-Iterator% %AsyncFunction% %AsyncGenerator% %AsyncGeneratorFunction% %Generator% %GeneratorFunction% %Iterator% " +
    "%Iterator-Helper% %Map-Iterator% %RegExp-String-Iterator% %Set-Iterator% %String-Iterator% " +
    "AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView DisposableStack Error EvalError " +
    "Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Iterator JSON Map Math NaN Number Object Promise Proxy " +
    "RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array " +
    "Uint8ClampedArray WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis isFinite isNaN parseFloat parseInt " +
    "undefined unescape",
  "the language, hardened: logical time, UTC": "Date",
  "the language, hardened: it refuses": "eval",
  "the language, hardened: without waiting": "Atomics",
  "the language's neighbour, hardened: no shared memory, no stack, nothing whose end the engine's threads decide":
    "WebAssembly",
  "text as bytes (Encoding standard)": "TextDecoder TextDecoderStream TextEncoder TextEncoderStream atob btoa",
  "streams of a body or an output (Streams standard)":
    "(controller) (transform-controller) (writable-controller) %ReadableStream-AsyncIterator% %ReadableStreamAsyncIterator% %ReadableStreamDefaultController% " +
    "%ReadableStreamDefaultReader% %TransformStreamDefaultController% %WritableStreamDefaultController% %WritableStreamDefaultWriter% ByteLengthQueuingStrategy " +
    "CountQueuingStrategy ReadableStream TransformStream WritableStream",
  "what `context.fetch` answers with (Fetch standard)":
    "%EntryIterator% %Headers-Iterator% %KeyIterator% %ValueIterator% Headers Response",
  "addresses (URL standard)": "%URLSearchParams-Iterator% URL URLSearchParams",
  "cancellation (DOM standard)": "AbortController AbortSignal CustomEvent DOMException Event EventTarget",
  "copies (HTML standard)": "structuredClone",
  "the order of work, as promises have it": "queueMicrotask",
  "another name of the global object": "self",
  "the call's log": "console",
  "the call: what the tool may ask for": "context",
  "the kinds of errors that an engine makes of its own": "%an-error's-class-of-the-engine%",
};

/** Members whose reason is another than that of what has them. */
const members: readonly (readonly [path: RegExp, reason: string])[] = [
  [
    /^\S+ \[(?!Symbol\.)/,
    "symbols of Node's and workerd's own; Node's are not followed, for a thread confines nothing",
  ],
  [
    /\{\} (?:columnNumber|fileName|lineNumber)$/,
    "Firefox writes it into each error, and no script can prevent it: the module's address is new in each isolate",
  ],
  [/(?:\{\}|^Error\.prototype) stack/, "the engine's own; the limit of frames is zero"],
  [/^Event(?:\.prototype)? [A-Z]+_MASK$/, "constants of Firefox that cannot be deleted"],
  [/^globalThis constructor$/, "undefined: the scope's class is out of reach; in Node the class of all objects"],
  [
    /^globalThis (?:addEventListener|dispatchEvent|removeEventListener)$/,
    "inherited from EventTarget; they refuse the global object",
  ],
  [/^globalThis (?:PERSISTENT|TEMPORARY)$/, "constants of Chromium that cannot be deleted"],
  [/^RegExp (?:\$|input|last|left|right|multiline)/, "the last match in this isolate (Annex B of the language)"],
];

const rootOf = new Map(
  Object.entries(roots).flatMap(([reason, names]) =>
    names.split(" ").map((name) => [name.replaceAll("-", " "), reason]),
  ),
);

/** `undefined`: nobody has given one. */
export function reasonOf(holder: string, key: string): string | undefined {
  const special = members.find(([path]) => path.test(`${holder} ${key}`));
  if (special !== undefined) return special[1];
  const global = holder === "globalThis" ? key.replace(/ (?:get|set)$/, "") : holder;
  if (global.startsWith("[Symbol.")) return rootOf.get("globalThis");
  const root = [...rootOf.keys()].filter(
    (name) => global === name || (global.startsWith(name) && /^[.{( ]/.test(global.slice(name.length))),
  );
  return rootOf.get(root.sort((a, b) => b.length - a.length)[0] ?? "");
}

import { type AttemptGroup, platforms, rows } from "./attempt.ts";

/** What a tool returns, throws and asks for crosses as data that was read once, inside the isolate. */
export const outputs: AttemptGroup = {
  name: "Results, exceptions and requests that are not what they seem",
  layer: "output",
  seen: "the host gets anything but bounded plain data, its prototypes change, or the next call goes wrong",
  on: platforms,
  attempts: rows("output", [
    [
      "getter",
      "a getter that changes its mind",
      "let n = 0; return { get a() { return n++ === 0 ? 'first' : globalThis; } }",
    ],
    ["getter-throws", "a getter that throws", "return { get a() { throw new Proxy({}, { get() { throw 1; } }); } }"],
    [
      "proxy",
      "a proxy that answers everything",
      "return new Proxy({}, { get: () => 1, ownKeys: () => ['a', 'b'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) })",
    ],
    [
      "proxy-endless",
      "a proxy with 20,000 keys",
      "return new Proxy({}, { ownKeys: () => Array.from({ length: 20_000 }, (_, i) => 'k' + i), getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) })",
    ],
    ["revoked", "a revoked proxy", "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return { proxy }"],
    ["then", "an object with `then`", "return { then: (resolve) => resolve({ then: 1, a: 1 }) }"],
    ["then-twice", "`then` that answers twice", "return { then(resolve) { resolve(1); resolve(2); } }"],
    ["then-nested", "`then` inside the result", "return { a: { then: (resolve) => resolve('resolved') } }"],
    ["then-getter", "a getter called `then` that throws", "return { get then() { throw new Error('x'); } }"],
    [
      "proto",
      "an own `__proto__`",
      'return JSON.parse(\'{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}\')',
    ],
    [
      "proto-defined",
      "a `__proto__` that was defined",
      "return Object.defineProperty({}, '__proto__', { value: { polluted: 'yes' }, enumerable: true })",
    ],
    ["to-json", "`toJSON`", "return { toJSON: () => ({ polluted: 'yes' }), a: 1 }"],
    ["cycle", "a cycle", "const a = { b: {} }; a.b.a = a; return a"],
    ["dag", "a value that unfolds a billion times", "let a = 'x'; for (let i = 0; i < 30; i++) a = [a, a]; return a"],
    ["deep", "a depth of 100,000", "let a = 1; for (let i = 0; i < 100_000; i++) a = [a]; return a"],
    ["sparse", "an array with four billion holes", "return new Array(2 ** 32 - 1)"],
    ["array-keys", "an array with names", "return Object.assign([1], { polluted: 'yes', length: 1 })"],
    ["huge", "100 MB of text", "return 'x'.repeat(100 << 20)"],
    ["function", "a function", "return { f: () => 1 }"],
    ["symbol-keys", "keys that are symbols", "return { [Symbol.toPrimitive]: 1, a: 1 }"],
    [
      "bytes",
      "bytes of a resizable buffer that shrinks",
      "const b = new ArrayBuffer(8, { maxByteLength: 16 }); const v = new Uint8Array(b); b.resize(0); return v",
    ],
    ["stream", "a live stream", "return new ReadableStream()"],
    ["signal", "the call's own signal", "return context.signal"],
    ["context", "the context", "return context"],
    ["global", "the global object", "return globalThis"],
    ["throw-proxy", "throwing a proxy", "throw new Proxy({}, { get() { throw globalThis; } })"],
    ["throw-global", "throwing the global object", "throw globalThis"],
    [
      "throw-then",
      "throwing an object with `then`",
      "throw { then: (resolve) => resolve(1), message: 'x'.repeat(1e6) }",
    ],
    [
      "throw-code",
      "throwing a refusal of the kernel",
      "throw Object.assign(new Error('x'), { name: 'CapabilityRefused', code: 'POLICY_DENIED' })",
    ],
    [
      "throw-late",
      "throwing after it returned",
      "queueMicrotask(() => queueMicrotask(() => { throw new Error('late'); })); return 1",
    ],
    ["reject-late", "a rejection that nobody handles", "void Promise.reject(new Error('nobody')); return 1"],
    [
      "log-proxy",
      "a log line that is a proxy",
      "try { context.log(new Proxy({}, { get() { throw 1; } })); } catch {} return 1",
    ],
    ["log-level", "a log line with a level of its own", "context.log('x', { toString: () => 'fatal' }); return 1"],
    ["log-huge", "a log line of 100 MB", "context.log('x'.repeat(100 << 20)); return 1"],
    [
      "progress-nan",
      "progress that is no number",
      "context.progress({ done: NaN, total: { valueOf: () => 1 } }); return 1",
    ],
    ["log-flood", "a million log lines", "for (let i = 0; i < 1_000_000; i++) context.log('x'); return 1"],
    [
      "request-flood",
      "10,000 requests at once",
      "await Promise.allSettled(Array.from({ length: 10_000 }, () => context.files.read('x'))); return 1",
    ],
    [
      "request-getter",
      "a request whose path is an object",
      "let n = 0; await context.files.read({ toString: () => (n++ === 0 ? 'a' : '../b') }).catch(() => {}); return n",
    ],
    [
      "request-method",
      "a request whose method is an object",
      "await context.fetch('https://example.com/', { method: { toUpperCase: () => 'CONNECT', toString: () => 'GET' } }).catch(() => {}); return 1",
    ],
    [
      "request-headers",
      "a request whose headers are a proxy",
      "await context.fetch('https://example.com/', { headers: new Proxy([], { get: (t, k) => (k === 'length' ? 1e4 : t[k]) }) }).catch(() => {}); return 1",
    ],
    [
      "request-body",
      "a request whose body is no bytes",
      "await context.files.write('a', { buffer: globalThis, byteLength: 1 }).catch(() => {}); return 1",
    ],
    [
      "request-body-detached",
      "a request whose body is gone",
      "const b = new Uint8Array(8); structuredClone(b.buffer, { transfer: [b.buffer] }); await context.files.write('a', b).catch(() => {}); return 1",
    ],
  ]),
};

/** One of each class that an engine stops in its own way: code, a row of promises, a pattern, code that the shell calls, and WebAssembly. */
const classes = ["spin.loop", "spin.microtasks", "spin.pattern", "spin.getter", "spin.wasm"];

/** Each is stopped from outside; others are answered meanwhile. */
export const spins: AttemptGroup = {
  name: "Tools that never yield",
  layer: "spin",
  seen: "its caller, or another tool's, is not answered",
  on: ["chromium", "firefox", "webkit", "node"],
  quick: {
    chromium: classes,
    firefox: classes,
    // WebKitGTK answers the caller, and stops no thread that executes WebAssembly: it keeps a core for the rest of the run.
    webkit: classes.filter((id) => id !== "spin.wasm"),
    node: classes,
  },
  attempts: rows("spin", [
    ["loop", "`for (;;)`", "for (;;);"],
    [
      "microtasks",
      "endless promises",
      "const again = () => Promise.resolve().then(again); await again(); for (;;) await null",
    ],
    ["queue", "endless microtasks", "const again = () => queueMicrotask(again); again(); await new Promise(() => {})"],
    ["pattern", "a pattern with exponential time", "return /^(a+)+$/.test('a'.repeat(64) + 'b')"],
    ["getter", "a getter in the result that never ends", "return { get a() { for (;;); } }"],
    ["then", "`then` that never ends", "return { then() { for (;;); } }"],
    ["sort", "a comparison that never ends", "[1, 2].sort(() => { for (;;); }); return 1"],
    [
      "wasm",
      "a loop in WebAssembly",
      "new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,8,1,0,10,9,1,7,0,3,64,12,0,11,11]))); return 1",
    ],
  ]),
};

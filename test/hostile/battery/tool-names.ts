import { type AttemptGroup, platforms, rows } from "./attempt.ts";

const taken =
  '["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Worker", "SharedWorker", "importScripts", "postMessage", "onmessage", "close", "indexedDB", "caches", ' +
  '"BroadcastChannel", "MessageChannel", "MessagePort", "MessageEvent", "performance", "crypto", "navigator", "location", "origin", "setTimeout", "setInterval", "setImmediate", ' +
  '"requestAnimationFrame", "scheduler", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Blob", "File", "FileReader", "FormData", "Request", "Notification", ' +
  '"OffscreenCanvas", "FontFace", "trustedTypes", "reportError", "process", "require", "module", "global", "Deno", "Bun", "CompressionStream"]';

/** A thread of Node runs trusted tools only. */
const unheld = "not promised";

/** Names that the shell takes away, and ways back to them. */
export const toolNames: AttemptGroup = {
  name: "Names, in a hardened isolate",
  layer: "tool",
  seen: "the tool holds what the shell took away",
  on: platforms,
  attempts: rows("tool", [
    ["global", "a global by its name", `return ${taken}.find((name) => name in globalThis)`],
    [
      "reflect",
      "a global by `Reflect.get` along the chain",
      `for (let o = globalThis; o !== null; o = Reflect.getPrototypeOf(o)) for (const name of ${taken}) if (Reflect.getOwnPropertyDescriptor(o, name)?.value !== undefined) return name`,
    ],
    [
      "typeof",
      "a global by `typeof`",
      "return [typeof fetch, typeof Worker, typeof setTimeout, typeof process, typeof postMessage].find((type) => type !== 'undefined')",
    ],
    [
      "chain",
      "what the prototypes of the global object hold",
      `const names = [];
      for (let o = Object.getPrototypeOf(globalThis); o !== null && o !== Object.prototype && o !== EventTarget.prototype; o = Object.getPrototypeOf(o))
        names.push(...Object.getOwnPropertyNames(o).filter((name) => o[name] !== undefined && name !== "constructor"));
      const kept = /^(self|toString|DOMException|btoa|atob|queueMicrotask|structuredClone|(Custom)?Event|EventTarget|Headers|Response|Abort(Controller|Signal)|URL(SearchParams)?|(Readable|Writable|Transform)Stream|Text(En|De)coder(Stream)?|(ByteLength|Count)QueuingStrategy)$/;
      return names.find((name) => !kept.test(name))`,
    ],
    [
      "scope-class",
      "the class of the global scope",
      "let o = Object.getPrototypeOf(globalThis); while (o !== null && o !== EventTarget.prototype && o !== Object.prototype) { if (o.constructor) return o.constructor.name; o = Object.getPrototypeOf(o); }",
    ],
    ["delete", "a name by deleting what hides it", "delete globalThis.fetch; return globalThis.fetch"],
    [
      "symbols",
      "the symbols of the global scope",
      "return Object.getOwnPropertySymbols(globalThis).find((s) => s !== Symbol.toStringTag && typeof globalThis[s] === 'function')?.toString()",
    ],
    ["sloppy-this", "the receiver of a plain function", "return (function () { return this; })()"],
    [
      "constructor-of-constructor",
      "the constructor of a class of the platform",
      "return [Response, Headers, URL, Event].map((c) => Object.getPrototypeOf(c)).find((c) => c !== Function.prototype && c?.name !== 'Event')",
    ],
    [
      "structured-clone",
      "classes by way of `structuredClone`",
      "const got = structuredClone({ e: new Error('x'), d: new Date(0), m: new Map() }); return got.d.constructor === Date && got.m.constructor === Map ? undefined : 'another realm'",
    ],
    ["blob", "the `Blob` of a response", "return await new Response('x').blob()"],
    ["form", "the boundary of a form", "return await new Response('x').formData()"],
    ["object-url", "making addresses of blobs", "return URL.createObjectURL ?? URL.revokeObjectURL"],
    ["signal-timeout", "timers by way of a signal", "return AbortSignal.timeout"],
    ["atomics-wait", "waiting on a memory", "return Atomics.wait ?? Atomics.waitAsync ?? Atomics.pause"],
    [
      "wasm-async",
      "compiling on another thread",
      "return WebAssembly.compile ?? WebAssembly.instantiate ?? WebAssembly.compileStreaming",
    ],
    [
      "wasm-shared",
      "a shared WebAssembly memory",
      "return new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })",
    ],
    [
      "wasm-shared-getter",
      "a shared memory by a getter that changes its mind",
      "let n = 0; const m = new WebAssembly.Memory({ initial: 1, maximum: 1, get shared() { return n++ > 0; } }); return m.buffer.constructor === ArrayBuffer ? undefined : m",
    ],
    [
      "wasm-shared-proxy",
      "a shared memory by a proxy",
      "let n = 0; const m = new WebAssembly.Memory(new Proxy({}, { get: (_, key) => (key === 'shared' ? n++ > 0 : 1) })); return m.buffer.constructor === ArrayBuffer ? undefined : m",
    ],
    [
      "wasm-memory-class",
      "the real class of memories",
      "return new WebAssembly.Memory({ initial: 1 }).constructor === WebAssembly.Memory ? undefined : 'another'",
    ],
    [
      "abort-class",
      "the class of an abort's target",
      "return context.signal.constructor === AbortSignal ? undefined : 'another'",
    ],
    ["stack", "positions in the shell", "return new Error('x').stack?.includes('shell') ? 'a position' : undefined"],
    [
      "stack-sites",
      "the shell's frames on the stack",
      `Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFunction() ?? site.getThis()).find((it) => it !== undefined);
      const got = new Error('x').stack; return typeof got === "function" || typeof got === "object" ? got : undefined`,
    ],
    [
      "stack-capture",
      "the shell's frames by `captureStackTrace`",
      "const o = {}; Error.stackTraceLimit = 99; Error.prepareStackTrace = (_, sites) => sites; Error.captureStackTrace(o); return o.stack?.length > 0 && typeof o.stack !== 'string' ? o.stack : undefined",
    ],
    ["caller", "the caller of the tool", "return (function f() { return f.caller; })()"],
    ["callee", "the arguments of the caller", "return arguments.callee"],
    [
      "caller-arguments",
      "the arguments of the shell's functions",
      "return context.log.arguments ?? context.fetch.caller",
    ],
  ]),
};

export const toolCode: AttemptGroup = {
  name: "Network and code from text, in a hardened isolate",
  layer: "tool",
  seen: "the canary counts a request, or the code runs",
  on: platforms,
  attempts: [
    ...rows("tool", [
      ["fetch", "`fetch`", "return (await fetch(at('fetch'))).status"],
      ["context-fetch", "the broker, without a grant", "return (await context.fetch(at('context'))).status"],
      [
        "response-url",
        "reading a response that names an address",
        "return (await new Response(null, { status: 302, headers: { location: at('location') } }).text()) || undefined",
      ],
    ]),
    ...rows("tool", [
      ["eval", "indirect `eval`", "return (0, eval)('this')"],
      ["function", "the constructor of functions", "return Function('return this')()"],
      [
        "function-of-method",
        "the constructor of a method of the context",
        "return context.fetch.constructor('return this')()",
      ],
      [
        "async-function",
        "the constructor of async functions",
        "return await (async () => {}).constructor('return 1')()",
      ],
      ["generator", "the constructor of generators", "return (function* () {}).constructor('yield 1')().next()"],
      [
        "async-generator",
        "the constructor of async generators",
        "return await (async function* () {}).constructor('yield 1')().next()",
      ],
      [
        "construct",
        "the constructor of functions by `Reflect.construct`",
        "return Reflect.construct(Function, ['return 1'], Object)()",
      ],
      ["class-extends", "a class that extends functions", "return new (class extends Function {})('return 1')()"],
    ]),
  ],
};

export const toolImports: AttemptGroup = {
  name: "Imports, in a hardened isolate",
  layer: "tool",
  seen: "the canary counts a request, or the module loads",
  on: platforms,
  isApart: true,
  attempts: [
    ...rows("tool", [
      ["import-url", "importing from the network", "return (await import(at('import'))) && 'ran'"],
      [
        "import-json",
        "importing JSON from the network",
        "return (await import(at('json'), { with: { type: 'json' } })) && 'ran'",
      ],
    ]),
    ...rows("tool", [
      ["import-data", "importing data", "await import('data:text/javascript,export default 1'); return 'ran'"],
      ["import-node-net", "importing Node's sockets", "return (await import('node:net')) && 'ran'"],
      ["import-node-fs", "importing Node's files", "return (await import('node:fs')) && 'ran'"],
      [
        "import-node-process",
        "importing Node's process",
        "const { default: p } = await import('node:process'); return Object.keys(p.env)[0] ?? p.getBuiltinModule('node:fs') ?? p.getBuiltinModule('node:net')",
      ],
      ["import-node-worker", "importing Node's threads", "return (await import('node:worker_threads')) && 'ran'"],
    ]).map((attempt) => ({ ...attempt, except: { node: unheld } })),
    ...rows("tool", [
      [
        "import-blob",
        "importing a blob of the page",
        "return (await import('blob:null/00000000-0000-0000-0000-000000000000')) && 'ran'",
      ],
      ["import-relative", "importing a file beside it", "return (await import('./other.js')) && 'ran'"],
      ["import-bare", "importing a package", "return (await import('comlink')) && 'ran'"],
      [
        "import-sockets",
        "connecting by workerd's sockets",
        "const { connect } = await import('cloudflare:sockets'); const s = connect('127.0.0.1:1'); await s.opened; return 'open'",
      ],
      [
        "import-env",
        "the bindings of a Worker",
        "const { env } = await import('cloudflare:workers'); return Object.keys(env)[0]",
      ],
      [
        "import-bound",
        "bindings put in by `withEnv`",
        "const { withEnv, env } = await import('cloudflare:workers'); return Object.keys(withEnv({}, () => env))[0]",
      ],
      [
        "import-cache",
        "the cache of the kernel's Worker",
        "const { cache } = await import('cloudflare:workers'); await cache.put(at('cache'), new Response('x')); return (await cache.match(at('cache')))?.status",
      ],
      [
        "import-http-client",
        "an HTTP client over workerd's sockets",
        "const { internalNewHttpClient, connect } = await import('cloudflare:sockets'); const client = await internalNewHttpClient(connect(new URL(at('')).host)); return (await client.fetch(at('http-client'))).status",
      ],
      [
        "import-node-handler",
        "serving requests in the kernel's place",
        "const { handleAsNodeRequest } = await import('cloudflare:node'); return await handleAsNodeRequest(80, at('handler'))",
      ],
      [
        "import-exports",
        "the entrypoints of the kernel's Worker",
        "const { exports } = await import('cloudflare:workers'); return Object.keys(exports ?? {}).find((name) => /Kernel|Registry|Sandbox/.test(name))",
      ],
    ]),
  ],
};

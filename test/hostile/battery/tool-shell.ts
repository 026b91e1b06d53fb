import { type AttemptGroup, platforms, rows } from "./attempt.ts";

/** Does something that makes the shell work while the traps are set. */
const work = `context.log("x"); context.progress({ done: 1 }); await context.files.read("x").catch(() => {}); await context.files.write("x", "y").catch(() => {});`;
const isWay = `const isWay = (it) => it !== null && (typeof it === "object" || typeof it === "function") && (typeof it.postMessage === "function" || it.name === "bound postMessage" || Array.isArray(it.ports));`;

const trap = (setUp: string): string => `${isWay} let got; ${setUp} ${work} return got`;
const trapMethods = (target: string, names: string): string =>
  // Taken before: what is trapped may be `Reflect.apply` itself.
  trap(`const { apply } = Reflect; for (const name of ${names}) { const real = ${target}[name]; if (typeof real !== "function") continue;
    try { ${target}[name] = function (...given) { for (const it of [this, ...given]) if (isWay(it)) got = it; return apply(real, this, given); }; } catch {} }`);

/** Ways to the port behind the context: what the shell calls, reads and awaits while it works. */
export const toolShell: AttemptGroup = {
  name: "Prototype tricks against the shell",
  layer: "tool",
  seen: "the tool holds the port to the kernel, or an event of it",
  on: platforms,
  attempts: rows("shell", [
    [
      "messages",
      "listening to messages of the scope",
      `let heard; EventTarget.prototype.addEventListener.call(globalThis, "message", (event) => (heard = event)); ${work} return heard`,
    ],
    [
      "errors",
      "listening to errors of the scope",
      `let heard; EventTarget.prototype.addEventListener.call(globalThis, "error", (event) => (heard = event.target === globalThis ? undefined : event.target)); ${work} return heard`,
    ],
    [
      "rejections",
      "listening to rejections of the scope",
      `let heard; EventTarget.prototype.addEventListener.call(globalThis, "unhandledrejection", (event) => (heard = event)); ${work} return isNaN(heard) ? undefined : heard`,
    ],
    [
      "dispatch",
      "dispatching a message at the scope",
      `let heard; try { globalThis.dispatchEvent(new CustomEvent("message", { detail: 1 })); } catch {} ${work} return heard`,
    ],
    [
      "handler",
      "a handler under its old name",
      `let heard; globalThis.onmessage = (event) => (heard = event); globalThis.postMessage?.("x"); ${work} return heard`,
    ],
    ["bind", "what the shell binds", trapMethods("Function.prototype", '["bind"]')],
    ["call", "what the shell calls", trapMethods("Function.prototype", '["call", "apply"]')],
    ["reflect", "what the shell applies", trapMethods("Reflect", '["apply", "construct", "get", "set"]')],
    ["map", "what the shell maps", trapMethods("Map.prototype", '["get", "set", "has", "delete"]')],
    ["weak-map", "what the shell maps weakly", trapMethods("WeakMap.prototype", '["get", "set", "has"]')],
    ["set", "what the shell collects", trapMethods("Set.prototype", '["add", "has", "delete"]')],
    [
      "array",
      "what the shell lists",
      trapMethods("Array.prototype", '["push", "shift", "map", "forEach", "slice", "concat", "join"]'),
    ],
    [
      "iterator",
      "what the shell iterates",
      trap(
        "const real = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function () { for (let i = 0; i < this.length; i++) if (isWay(this[i])) got = this[i]; return Reflect.apply(real, this, []); };",
      ),
    ],
    ["promise", "what the shell promises", trapMethods("Promise.prototype", '["then", "catch", "finally"]')],
    [
      "promise-static",
      "what the shell resolves",
      trapMethods("Promise", '["resolve", "reject", "all", "race", "withResolvers"]'),
    ],
    [
      "promise-class",
      "what the shell constructs",
      trap(
        `const Real = Promise; globalThis.Promise = class extends Real { constructor(run) { super((a, b) => { if (run.toString().includes("port")) got = run; run(a, b); }); } };`,
      ),
    ],
    [
      "then",
      "what the shell awaits",
      trap(
        `Object.defineProperty(Object.prototype, "then", { configurable: true, get() { if (isWay(this)) got = this; return undefined; } });`,
      ),
    ],
    [
      "reads",
      "what the shell reads",
      trap(
        `for (const name of ["data", "port", "ports", "target", "callId", "source", "post"]) Object.defineProperty(Object.prototype, name, { configurable: true, get() { if (isWay(this)) got = this; return undefined; }, set(v) { if (isWay(v)) got = v; } });`,
      ),
    ],
    [
      "indexes",
      "what the shell destructures",
      trap(
        `for (const name of ["0", "1", "length"]) try { Object.defineProperty(Object.prototype, name, { configurable: true, get() { if (isWay(this)) got = this; return undefined; }, set(v) { if (isWay(v)) got = v; } }); } catch {}`,
      ),
    ],
    ["json", "what the shell serializes", trapMethods("JSON", '["parse", "stringify"]')],
    [
      "to-json",
      "what the shell writes as JSON",
      trap("Object.prototype.toJSON = function () { if (isWay(this)) got = this; return this; };"),
    ],
    [
      "string",
      "what the shell cuts",
      trapMethods("String.prototype", '["slice", "toWellFormed", "toLowerCase", "toString"]'),
    ],
    [
      "object",
      "what the shell assigns",
      trapMethods("Object", '["assign", "entries", "keys", "fromEntries", "freeze", "defineProperty"]'),
    ],
    [
      "has-instance",
      "what the shell tests by class",
      trap(
        "for (const C of [Uint8Array, Error, Response]) try { Object.defineProperty(C, Symbol.hasInstance, { value(it) { if (isWay(it)) got = it; return true; } }); } catch {}",
      ),
    ],
    [
      "to-primitive",
      "what the shell turns into text",
      trap("Object.prototype[Symbol.toPrimitive] = function () { if (isWay(this)) got = this; return 'x'; };"),
    ],
    [
      "species",
      "what the shell copies",
      trap(
        "try { Object.defineProperty(Uint8Array, Symbol.species, { get() { got = undefined; return Array; } }); } catch {}",
      ),
    ],
    [
      "buffer",
      "what the shell transfers",
      trap(
        "const d = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'buffer'); Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), 'buffer', { get() { if (isWay(this)) got = this; return Reflect.apply(d.get, this, []); } });",
      ),
    ],
    ["signal", "what the shell aborts", trapMethods("AbortController.prototype", '["abort"]')],
    [
      "target",
      "what the shell listens to",
      trapMethods("EventTarget.prototype", '["addEventListener", "removeEventListener", "dispatchEvent"]'),
    ],
    [
      "walk",
      "what the context holds, six steps deep",
      `${isWay} const seen = new Set(); const walk = (it, depth) => { if (depth > 6 || it === null || (typeof it !== "object" && typeof it !== "function") || seen.has(it)) return; seen.add(it);
        if (isWay(it)) return it; for (const key of Reflect.ownKeys(it)) { let v; try { v = it[key]; } catch { continue; } const got = walk(v, depth + 1); if (got) return got; } };
      return walk(context, 0)`,
    ],
    [
      "context-proto",
      "what a method's prototype of the context holds",
      `${isWay} return [context, context.files, context.signal].map((it) => Object.getPrototypeOf(it)).find(isWay)`,
    ],
    [
      "global-proto",
      "a proxy as the prototype of the global object",
      "Object.setPrototypeOf(globalThis, new Proxy({}, { has: () => true, get: (_, name) => name })); return typeof postMessage === 'string' ? undefined : 1",
    ],
  ]),
};

export const toolSources: AttemptGroup = {
  name: "Clock, chance and the console",
  layer: "tool",
  seen: "the tool tells time, chance or machine apart from what its call says",
  on: platforms,
  attempts: rows("source", [
    ["event", "the clock of an event", "return new Event('x').timeStamp || undefined"],
    [
      "date-class",
      "the clock's real class",
      "return new Date(0).constructor === Date && Date.prototype.constructor === Date ? undefined : 'another'",
    ],
    [
      "date-clone",
      "the clock's real class, cloned",
      "return structuredClone(new Date(0)).constructor === Date ? undefined : 'another'",
    ],
    [
      "date-construct",
      "a date by `Reflect.construct` on another class",
      "const d = Reflect.construct(Date, [], class extends Date {}); return d.getTime() === context.now() ? undefined : d.getTime()",
    ],
    ["date-function", "the date as text", "return Date() === new Date(context.now()).toString() ? undefined : Date()"],
    [
      "date-replace",
      "putting another clock in",
      "try { globalThis.Date = class {}; } catch {} try { delete globalThis.Date; } catch {} return Date.now() === context.now() ? undefined : 'another'",
    ],
    [
      "date-now",
      "replacing `Date.now`",
      "try { Date.now = () => 4; } catch {} try { Object.defineProperty(Date, 'now', { value: () => 4 }); } catch {} return Date.now() === context.now() ? undefined : 'another'",
    ],
    ["date-zone", "the machine's time zone", "return new Date(2020, 6, 1).getTimezoneOffset() || undefined"],
    [
      "intl",
      "the machine's zone and locale by name",
      "return [typeof Intl, typeof Temporal].every((each) => each === 'undefined') ? undefined : 'here'",
    ],
    ["response-date", "a date in a response of its own", "return new Response('x').headers.get('date') ?? undefined"],
    [
      "random-replace",
      "putting another chance in",
      "const before = Math.random; try { Math.random = () => 4; } catch {} return Math.random === before ? undefined : 'another'",
    ],
    ["random-true", "true chance", "const one = Math.random(); return one === Math.random() ? 'constant' : undefined"],
    [
      "console-replace",
      "putting another console in",
      "try { globalThis.console = {}; } catch {} try { console.log = 1; } catch {} return typeof console.log === 'function' ? undefined : 'another'",
    ],
    [
      "console-more",
      "what else a console does",
      "return console.table ?? console.memory ?? console.profile ?? console.createTask",
    ],
    [
      "language",
      "the machine's language and processors",
      "return globalThis.navigator?.language ?? globalThis.navigator?.hardwareConcurrency",
    ],
    [
      "weak",
      "when memory is collected",
      "return typeof WeakRef !== 'undefined' || typeof FinalizationRegistry !== 'undefined' || undefined",
    ],
  ]),
};

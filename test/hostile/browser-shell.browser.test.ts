import type { IsolateHost } from "@keyhole/kernel";
import { browserHost, domStage } from "@keyhole/worker-host/browser";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { callWith, evaluate, moduleOf, quietPort, toolText } from "../browser/open.ts";

const canary = inject("canary");
const hits = async (): Promise<string[]> => (await fetch(`${canary}/hits/sealed`)).json() as Promise<string[]>;

/** Ways to a name that the shell took away, or to the port that it holds. Each is the body of a function that gives what it got. */
const attempts: Readonly<Record<string, string>> = {
  // Names.
  "a global by name": `return ["fetch", "XMLHttpRequest", "WebSocket", "Worker", "SharedWorker", "importScripts", "postMessage", "onmessage", "close", "indexedDB", "caches",
    "BroadcastChannel", "MessageChannel", "MessagePort", "MessageEvent", "performance", "crypto", "navigator", "location", "origin", "setTimeout", "setInterval",
    "requestAnimationFrame", "scheduler", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Blob", "File", "FileReader", "FormData", "Request", "Notification",
    "OffscreenCanvas", "FontFace", "trustedTypes", "reportError", "addEventListener", "dispatchEvent"].find((name) => name in globalThis && name !== "addEventListener" && name !== "dispatchEvent")`,
  "a global's prototype chain": `const names = [];
    for (let o = Object.getPrototypeOf(globalThis); o !== null && o !== Object.prototype && o !== EventTarget.prototype; o = Object.getPrototypeOf(o))
      names.push(...Object.getOwnPropertyNames(o).filter((name) => o[name] !== undefined && name !== "constructor"));
    return names.filter((name) => name !== "self" && name !== "toString")[0]`,
  "the scope's class":
    "let o = Object.getPrototypeOf(globalThis); while (o !== EventTarget.prototype) { if (o.constructor) return o.constructor.name; o = Object.getPrototypeOf(o); }",
  "a name by deleting what hides it": "delete globalThis.fetch; return globalThis.fetch",
  "a symbol of the scope":
    "return Object.getOwnPropertySymbols(globalThis).find((s) => s !== Symbol.toStringTag)?.toString()",
  "indirect eval": "return (0, eval)('this')",
  "the Function constructor": "return Function('return this')()",
  "the async function constructor": "return await (async () => {}).constructor('return 1')()",
  "the generator constructor": "return (function* () {}).constructor('yield 1')().next()",
  "importing from the network": `await import("${canary}/sealed/import"); return "ran"`,
  "importing data": "await import('data:text/javascript,export default 1'); return 'ran'",
  "importing a blob": "return URL.createObjectURL",
  "the clock of an event": "return new Event('x').timeStamp || undefined",
  "the clock of a signal": "return AbortSignal.timeout",
  "waiting on a memory": "return Atomics.wait ?? Atomics.waitAsync",
  "a shared WebAssembly memory": "return new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })",
  "the WebAssembly memory's real class":
    "return new WebAssembly.Memory({ initial: 1 }).constructor === WebAssembly.Memory ? undefined : 'another'",
  "the clock's real class":
    "return new Date(0).constructor === Date && Date.prototype.constructor === Date ? undefined : 'another'",
  "putting another clock in":
    "try { globalThis.Date = class {}; } catch {} try { delete globalThis.Date; } catch {} return Date.now() === context.now() ? undefined : 'another'",
  "putting another chance in":
    "const before = Math.random; try { Math.random = () => 4; } catch {} return Math.random === before ? undefined : 'another'",
  "the Blob of a response": "return await new Response('x').blob()",
  "the boundary of a form": "return await new Response('x').formData()",
  "positions in the shell": "return new Error('x').stack?.includes('blob:') ? 'a position' : undefined",
  "frames of the shell": `Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFunction() ?? site.getThis()).find((it) => it !== undefined);
    const got = new Error('x').stack; return typeof got === "function" || typeof got === "object" ? got : undefined`,
  "the caller of the tool": "return (function f() { return f.caller; })()",
  "the arguments of the caller": "return arguments.callee",

  // The port.
  "messages of the scope": `let heard; EventTarget.prototype.addEventListener.call(globalThis, "message", (event) => (heard = event));
    await context.files.read("x").catch(() => {}); return heard`,
  "errors of the scope": `let heard; EventTarget.prototype.addEventListener.call(globalThis, "error", (event) => (heard = event.target === globalThis ? undefined : event.target));
    queueMicrotask(() => { throw new Error("x"); }); await context.files.read("x").catch(() => {}); return heard`,
  "a handler under its old name": `let heard; globalThis.onmessage = (event) => (heard = event); globalThis.postMessage?.("x"); await context.files.read("x").catch(() => {}); return heard`,
  "what the shell binds":
    "let got; const bind = Function.prototype.bind; Function.prototype.bind = function (...a) { got = this; return Reflect.apply(bind, this, a); }; await context.files.read('x').catch(() => {}); return got?.name === 'postMessage' ? got : undefined",
  "what the shell calls": `let got; for (const name of ["call", "apply"]) { const real = Function.prototype[name]; Function.prototype[name] = function (...a) { got ??= a[0]; return Reflect.apply(real, this, a); }; }
    context.log("x"); await context.files.read("x").catch(() => {}); return got?.constructor?.name === "MessagePort" ? got : undefined`,
  "what the shell maps": `let got; for (const name of ["get", "set", "has", "delete"]) { const real = Map.prototype[name]; Map.prototype[name] = function (...a) { for (const v of [this, ...a, ...this.values?.() ?? []]) if (v?.postMessage) got = v; return Reflect.apply(real, this, a); }; }
    context.log("x"); await context.files.read("x").catch(() => {}); return got`,
  "what the shell awaits": `let got; Object.defineProperty(Object.prototype, "then", { configurable: true, get() { if (this?.postMessage) got = this; return undefined; } });
    context.log("x"); await context.files.read("x").catch(() => {}); delete Object.prototype.then; return got`,
  "what the shell reads": `const got = []; for (const name of ["data", "type", "port", "ports", "target", "callId"]) Object.defineProperty(Object.prototype, name, { configurable: true, get() { got.push(this); return undefined; }, set(v) { got.push(v); } });
    context.log("x"); await context.files.read("x").catch(() => {}); return got.find((it) => it?.postMessage || it?.ports)`,
  "what the shell constructs": `let got; const Real = Promise; globalThis.Promise = class extends Real { constructor(run) { super((a, b) => { got ??= run.toString().includes("port") ? run : undefined; run(a, b); }); } };
    await context.files.read("x").catch(() => {}); globalThis.Promise = Real; return got`,
  "what the shell transfers": `let got; const buffer = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "buffer").get;
    Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), "buffer", { get() { try { null.x; } catch (e) { got = e.stack?.includes("MessagePort") ? e : undefined; } return Reflect.apply(buffer, this, []); } });
    await context.files.write("x", "y").catch(() => {}); return got`,
  "what the context holds": `const seen = new Set(); const walk = (it, depth) => { if (depth > 6 || it === null || (typeof it !== "object" && typeof it !== "function") || seen.has(it)) return; seen.add(it);
      if (typeof it.postMessage === "function") return it; for (const key of Reflect.ownKeys(it)) { let v; try { v = it[key]; } catch { continue; } const got = walk(v, depth + 1); if (got) return got; } };
    return walk(context, 0)`,
  "the target of an abort": "return context.signal.constructor === AbortSignal ? undefined : 'another'",
  "a transferred stream": "return structuredClone(new ReadableStream(), { transfer: [] }).constructor?.name",
};

describe("the sealed shell", () => {
  let host: IsolateHost;
  beforeAll(async () => {
    host = await browserHost();
  });
  afterAll(() => host.close());

  const wrap = (body: string): string => `
    try { const got = await (async function () { ${body} }).call(undefined); return got === undefined || got === null ? "nothing" : "GOT " + (typeof got) + " " + Object.prototype.toString.call(got); }
    catch (error) { return "refused"; }`;

  it.each(Object.keys(attempts))("gives no tool %s", async (name) => {
    expect(["nothing", "refused"]).toContain(await evaluate(host, wrap(attempts[name]!)));
  });

  it("gives a module no more while it loads", async () => {
    const body = "return loaded";
    const before = `const loaded = await (async () => {
      const got = ["fetch", "postMessage", "setTimeout", "onmessage", "Worker"].filter((name) => name in globalThis);
      try { await import("${canary}/sealed/at-load"); got.push("import"); } catch {}
      return got;
    })();`;
    expect(await evaluate(host, body, {}, before)).toEqual([]);
  });

  it("stays what it is when a module hoists its own names over the language's", async () => {
    const before = "function Object() { return { hijacked: true }; } function Promise() {} var Map = 1; class Error {}";
    expect(await evaluate(host, "return [typeof Map, input]", {}, before)).toEqual(["number", {}]);
  });

  it("let nothing reach the canary", async () => {
    expect(await hits()).toEqual([]);
  });

  it("keeps the host's own prototypes and globals clean", async () => {
    await evaluate(
      host,
      `for (const o of [Object.prototype, Array.prototype, Function.prototype]) o.polluted = "yes"; return { __proto__: null, ["__proto__"]: 1 }.x ?? null`,
    ).catch(() => {});
    expect([
      ({} as { polluted?: unknown }).polluted,
      ([] as { polluted?: unknown }).polluted,
      "pwned" in globalThis,
    ]).toEqual([undefined, undefined, false]);
  });

  it("answers after its tool replaced everything that it could", async () => {
    const isolate = await host.open(
      moduleOf(
        toolText(
          `for (const name of Object.getOwnPropertyNames(globalThis)) if (!["undefined", "globalThis", "Object", "JSON"].includes(name)) try { globalThis[name] = undefined; } catch {} return "done"`,
        ),
      ),
    );
    const outcome = await isolate.call(callWith(), quietPort);
    // It may have broken its own realm: whatever comes is an outcome, and the isolate can be replaced.
    expect(["returned", "threw", "unnormalizable", "lost"]).toContain(outcome.kind);
    isolate.terminate("the test is over");
    expect(await evaluate(host, "return 1")).toBe(1);
  });
});

/** A guest without a shell: it speaks the protocol itself, and then stops to. */
const rawGuest = (then: string): string => `
  onmessage = ({ ports: [port] }) => {
    postMessage("started");
    port.postMessage({ type: "ready", imports: true, wasm: true });
    port.onmessage = ({ data }) => {
      if (data.type === "load") port.postMessage({ type: "loaded" });
      if (data.type === "call") {
        const { callId } = data.call;
        // What an engine refuses to send at all (WebKit: a stream) is not sent; the guest says nonsense instead.
        try { ${then} } catch { port.postMessage("refused") }
      }
    };
  };`;

describe("a guest that is not our shell", () => {
  const outcomeOf = async (then: string) => {
    const host = await browserHost({ stage: domStage({}, rawGuest(then)), warm: 0 });
    const isolate = await host.open(moduleOf("export default {}"));
    const logs: unknown[] = [];
    const outcome = await isolate.call(callWith(), { ...quietPort, log: (entry) => logs.push(entry) });
    const { alive } = isolate;
    await host.close();
    return { outcome, alive, logs };
  };

  it("is heard while it keeps to the protocol", async () => {
    const { outcome } = await outcomeOf(
      `port.postMessage({ type: "outcome", callId, outcome: { kind: "returned", output: { form: "json", text: "1" } } })`,
    );
    expect(outcome).toEqual({ kind: "returned", output: { form: "json", text: "1" } });
  });

  it("is stopped when it floods without end", async () => {
    const { outcome, alive, logs } = await outcomeOf(
      `for (;;) port.postMessage({ type: "log", callId, level: "info", message: "x" })`,
    );
    expect(outcome).toEqual({ kind: "too-large", what: "messages", limit: 1_000 });
    expect([alive, logs.length]).toEqual([false, 1_000]);
  });

  it.each([
    ["a message of 100 MB", `port.postMessage({ type: "log", callId, level: "info", message: "x".repeat(100 << 20) })`],
    [
      "a port",
      `const c = new MessageChannel(); port.postMessage({ type: "log", callId, level: "info", message: c.port1 }, [c.port1])`,
    ],
    ["a live stream", `const s = new ReadableStream(); port.postMessage({ type: "outcome", callId, outcome: s }, [s])`],
    ["an error object", `port.postMessage(new Error("x"))`],
    [
      "a forged lost",
      `port.postMessage({ type: "outcome", callId, outcome: { kind: "lost", reason: "x", retryable: true } })`,
    ],
    [
      "comlink's CONSTRUCT",
      `port.postMessage({ id: "1", type: "CONSTRUCT", path: ["call", "constructor"], argumentList: [{ type: "RAW", value: "globalThis.pwned = 1" }] })`,
    ],
    [
      "comlink's SET",
      `port.postMessage({ id: "1", type: "SET", path: ["__proto__", "polluted"], value: { type: "RAW", value: "yes" } })`,
    ],
  ])("is lost when it sends %s", async (_, then) => {
    const { outcome, alive } = await outcomeOf(then);
    expect(outcome.kind).toBe("lost");
    expect(alive).toBe(false);
    expect(["polluted" in {}, "pwned" in globalThis]).toEqual([false, false]);
  });
});

import type { IsolateHost } from "@keyhole/kernel";
import { evaluate, moduleOf, toolText } from "../browser/open.ts";

/** A way in which an isolate would show where it runs: its name, the body of a function, and what that returns in every realm. */
type Leak = readonly [name: string, body: string, expected: unknown];

/** Reads the time zone twice: the first time it is given, the second time the engine would take its own. */
const fickle = `{ reads: 0, get timeZone() { return this.reads++ === 0 ? "UTC" : undefined; } }`;
const localeOf = (expression: string): string =>
  `return typeof Intl === "object" ? ${expression}.resolvedOptions().locale : "en-US";`;
/** 2020-07-01T00:00:00Z as the engine writes it, where it has Temporal. */
const temporal = (expression: string, expected: string): string =>
  `return typeof Temporal === "undefined" || ${expression} === "${expected}";`;
/** Replaces a function of the language while `body` runs. */
const replaced = (holder: string, key: string, by: string, body: string): string => `
  const kept = ${holder}[${key}];
  ${holder}[${key}] = ${by};
  try { ${body} } finally { ${holder}[${key}] = kept; }`;

export const leaks: readonly Leak[] = [
  [
    "the zone, to options that change",
    `return new Date(0).toLocaleTimeString("en-GB", ${fickle}).replace("12:00:00 AM", "00:00:00");`,
    "00:00:00",
  ],
  [
    "the zone, to inherited options that change",
    `return typeof Intl !== "object" || new Intl.DateTimeFormat("en-GB", Object.create(${fickle})).resolvedOptions().timeZone === "UTC";`,
    true,
  ],
  [
    "the zone, in the text of an instant",
    temporal(`Temporal.Instant.from("2020-07-01T00:00Z").toLocaleString("en-GB")`, "01/07/2020, 00:00:00"),
    true,
  ],
  ["the zone, in a date of three numbers", `return new Date("07-01-2020").toISOString();`, "2020-07-01T00:00:00.000Z"],
  [
    "the zone, in a date with a comment",
    `return new Date("Jul 1 2020 (UTC)").toISOString();`,
    "2020-07-01T00:00:00.000Z",
  ],
  [
    "the zone, to a replaced test of a pattern",
    replaced("RegExp.prototype", `"test"`, "() => true", `return new Date("Jul 1, 2020 05:00").toISOString();`),
    "2020-07-01T05:00:00.000Z",
  ],
  [
    "the engine's own classes, to a replaced Reflect",
    `const met = new Set();
     const { construct, apply } = Reflect;
     Reflect.construct = (callee, ...rest) => (met.add(callee), construct(callee, ...rest));
     Reflect.apply = (callee, ...rest) => (met.add(callee), apply(callee, ...rest));
     try {
       new Date(0).toLocaleString();
       new Error("x");
       if (typeof Intl === "object") new Intl.DateTimeFormat().format();
     } finally { Object.assign(Reflect, { construct, apply }); }
     return met.size;`,
    0,
  ],
  ["the locale, to an empty list", localeOf("new Intl.NumberFormat([])"), "en-US"],
  ["the locale, to a tag that is unknown", localeOf(`new Intl.DateTimeFormat("xx")`), "en-US"],
  ["the locale, in names", localeOf(`new Intl.DisplayNames(undefined, { type: "region" })`), "en-US"],
  [
    "the locale, to a replaced iterator of lists",
    replaced("Array.prototype", "Symbol.iterator", "function* () {}", localeOf("new Intl.Collator([])")),
    "en-US",
  ],
  [
    "the locale, to a setter in the prototype of lists",
    `Object.defineProperty(Array.prototype, "0", { set() {}, configurable: true });
     try { ${localeOf("new Intl.ListFormat([])")} } finally { delete Array.prototype[0]; }`,
    "en-US",
  ],
  ["the locale, in a number", `return (1234.5).toLocaleString([]).replace("1234.5", "1,234.5");`, "1,234.5"],
  ["the locale, in text", `return "I".toLocaleLowerCase([]);`, "i"],
  [
    "the locale, in a date without a zone",
    temporal(`Temporal.PlainDate.from("2020-07-01").toLocaleString()`, "7/1/2020"),
    true,
  ],
  ["the locale, in a class of V8's", `return typeof Intl === "object" && "v8BreakIterator" in Intl;`, false],
  [
    "a shared memory, which is a timer",
    `if (typeof WebAssembly !== "object") return "CompileError";
     const memory = [5, 4, 1, 3, 1, 1];
     const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, ...memory, 7, 5, 1, 1, 109, 2, 0]);
     try { return String(new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.m.buffer); } catch (error) { return error.name; }`,
    "CompileError",
  ],
  [
    "frames of the shell, to a raised limit",
    `try { Error.stackTraceLimit = 100; } catch {}
     try { Reflect.deleteProperty(Error, "stackTraceLimit"); } catch {}
     let stack = "";
     try { null.x; } catch (error) { stack = String(error.stack ?? ""); }
     return stack.split("\\n").length;`,
    1,
  ],
  [
    "frames of the shell, through a parent of an error",
    `const Parent = Object.getPrototypeOf(TypeError);
     try { Parent.stackTraceLimit = 100; } catch {}
     return [Parent === Error, String(new Parent("x").stack ?? "").split("\\n").length];`,
    [true, 1],
  ],
  [
    "frames of the shell, in what cannot be cloned",
    `try { structuredClone(() => {}); } catch (error) { return String(error.stack ?? "").split("\\n").length; }`,
    1,
  ],
  [
    "frames of the shell, in an exception of WebAssembly",
    `if (typeof WebAssembly !== "object" || !WebAssembly.Exception) return false;
     const thrown = new WebAssembly.Exception(new WebAssembly.Tag({ parameters: [] }), [], { traceStack: true });
     return /@|\\n/.test(String(thrown.stack ?? ""));`,
    false,
  ],
  [
    "the page's policy, in the refusal of text as code",
    `const texts = [];
     for (const make of [() => eval("1"), () => (0, eval)("1"), ...[() => {}, async () => {}, function* () {}, async function* () {}].map((each) => () => each.constructor("1"))])
       try { texts.push(String(make())); } catch (error) { texts.push(error.name + ": " + error.message); }
     return [...new Set(texts)];`,
    ["EvalError: Code cannot be made out of text here."],
  ],
  [
    "the global object's own events",
    `const ways = [globalThis, undefined, null].map((target) => () => EventTarget.prototype.addEventListener.call(target, "securitypolicyviolation", () => {}));
     if (EventTarget.prototype.when) ways.push(() => EventTarget.prototype.when.call(globalThis, "securitypolicyviolation"));
     return ways.filter((way) => { try { way(); return true; } catch { return false; } }).length;`,
    0,
  ],
];

const bodies = leaks.map(([name, body]) => `[${JSON.stringify(name)}, async () => { ${body} }]`);
const tryAll = `
  const found = [];
  for (const [name, leak] of [${bodies.join(",\n")}]) {
    try { found.push([name, await leak()]); } catch (error) { found.push([name, "threw " + error.name + ": " + error.message]); }
  }
  return found;`;

/** The hash of the tool that tries them. */
export const leakHash: string = moduleOf(toolText(tryAll)).hash;

/** What each of them returns, in one isolate. */
export async function tried(host: IsolateHost): Promise<[name: string, value: unknown][]> {
  return (await evaluate(host, tryAll)) as [string, unknown][];
}

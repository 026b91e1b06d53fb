import type { IsolateHost } from "@keyhole/kernel";
import { evaluate, moduleOf, toolText } from "../browser/open.ts";

/** A way in which an isolate would show where it runs: its name, the body of a function, and what that returns in every realm. */
type Leak = readonly [name: string, body: string, expected: unknown];

/** Replaces a function of the language while `body` runs. */
const replaced = (holder: string, key: string, by: string, body: string): string => `
  const kept = ${holder}[${key}];
  ${holder}[${key}] = ${by};
  try { ${body} } finally { ${holder}[${key}] = kept; }`;

export const leaks: readonly Leak[] = [
  [
    "the zone, to an option",
    `return new Date(0).toLocaleTimeString("en-GB", { timeZone: "Asia/Tokyo" });`,
    "00:00:00 GMT+0000 (Coordinated Universal Time)",
  ],
  ["the zone, in a date of three numbers", `return String(new Date("07-01-2020"));`, "Invalid Date"],
  ["the zone, in a date with a comment", `return String(new Date("Jul 1 2020 (UTC)"));`, "Invalid Date"],
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
       "a".localeCompare("b");
     } finally { Object.assign(Reflect, { construct, apply }); }
     return met.size;`,
    0,
  ],
  [
    "the locale, by name",
    `return [typeof Intl, typeof Temporal, "toTemporalInstant" in Date.prototype];`,
    ["undefined", "undefined", false],
  ],
  [
    "the locale, in numbers",
    `return [1234567.5, 1234n, [1234.5, 2]].map((each) => each.toLocaleString("de-DE", { minimumFractionDigits: 2 }));`,
    ["1234567.5", "1234", "1234.5,2"],
  ],
  [
    "the locale, in dates",
    `return ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"].map((name) => new Date(0)[name]("de-DE"));`,
    [
      "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)",
      "Thu Jan 01 1970",
      "00:00:00 GMT+0000 (Coordinated Universal Time)",
    ],
  ],
  ["the locale, in text", `return ["I".toLocaleLowerCase("tr"), "i".toLocaleUpperCase("tr")];`, ["i", "I"]],
  [
    "the locale, in an order",
    `return ["ä", "z", "a", "B", "a10", "a9"].sort((a, b) => a.localeCompare(b, "de", { numeric: true })).join();`,
    "B,a,a10,a9,z,ä",
  ],
  [
    "the locale, in texts that Unicode calls equal",
    `return ["é".localeCompare("e\\u0301"), "a".localeCompare("b"), "b".localeCompare("a"), "undefined".localeCompare()];`,
    [0, -1, 1, 0],
  ],
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

/**
 * Ways to write an import so that a reader of text does not see it. The engine says what an import is: whatever it would load has to be found.
 */
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { importAt } from "@keyhole/worker-host/protocol";
import { sized } from "../support/size.ts";

/** What the engine makes of each text as a module: whether it compiles, and how many modules it would load before it runs. */
interface Reading {
  readonly compiles: boolean;
  readonly loads: number;
}

const engine = new Worker(
  `const { SourceTextModule } = require("node:vm");
  const { parentPort } = require("node:worker_threads");
  const read = (code) => {
    try {
      return { compiles: true, loads: new SourceTextModule(code).moduleRequests.length };
    } catch {
      return { compiles: false, loads: 0 };
    }
  };
  parentPort.on("message", (texts) => parentPort.postMessage(texts.map(read)));`,
  { eval: true, execArgv: ["--experimental-vm-modules", "--no-warnings"] },
);
afterAll(() => engine.terminate());

function readings(texts: readonly string[]): Promise<Reading[]> {
  const { promise, resolve } = Promise.withResolvers<Reading[]>();
  engine.once("message", resolve);
  engine.postMessage(texts);
  return promise;
}

const long = 300;
const spaces = [" ", "\t", "\v", "\f", "\n", "\r", "\u00a0", "\u2028", "\u2029", "\u3000", "\ufeff"];
const comments = ["/**/", "/* } from */", "/*\n*/", "/*\u2028*/", "//\n", "// from {\r", "//\u2028", "//'\u2029"];
const longGaps = [" ".repeat(long), `/*${"*".repeat(long)}*/`, `//${"/".repeat(long)}\n`, "/**/".repeat(long)];

/** Between two tokens. `apart`: where two names would become one. */
const gap = (apart: boolean): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...spaces) },
        { weight: 3, arbitrary: fc.constantFrom(...comments) },
        { weight: 1, arbitrary: fc.constantFrom(...longGaps) },
      ),
      { maxLength: 3 },
    )
    .map((parts) => parts.join("") || (apart ? " " : ""));

const digits = (unit: string): string => (unit.codePointAt(0) ?? 0).toString(16);

/** One character of a name, in each spelling that the language has for it. */
const letter = (from: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...from), fc.constantFrom("plain", "braced", "padded", "upper", "four"))
    .map(([sign, how]) => {
      if (how === "braced") return `\\u{${digits(sign)}}`;
      if (how === "padded") return `\\u{${digits(sign).padStart(6, "0")}}`;
      if (how === "upper") return `\\u{${digits(sign).toUpperCase()}}`;
      return how === "four" && sign.length === 1 ? `\\u${digits(sign).padStart(4, "0")}` : sign;
    });

const starts = ["a", "$", "_", "é", "ℵ", "数", "𝐀", "K"];
const name = fc.oneof(
  fc
    .tuple(letter(starts), fc.array(letter([...starts, "1", "\u200d", "\u0301", "·"]), { maxLength: 3 }))
    .map(([first, rest]) => first + rest.join("")),
  fc.constantFrom("from", "source", "defer", "as", "of", "async", "get", "meta", "type", "x".repeat(2_000)),
);

const quoted = fc
  .tuple(
    fc.constantFrom(`"`, "'"),
    fc.constantFrom("x", "", "}", "\\u{7d}", "\\'", '\\"', "\\\n", "\u2028", "y".repeat(2_000)),
  )
  .map(([quote, text]) => `${quote}${text}${quote}`);

const exported = fc.oneof({ weight: 3, arbitrary: name }, fc.constantFrom("default", "import", "if"), quoted);

/** A list in braces, as its tokens. */
const list = (item: fc.Arbitrary<string[]>): fc.Arbitrary<string[]> =>
  fc
    .tuple(fc.uniqueArray(item, { maxLength: 3, selector: (tokens) => tokens.at(-1) }), fc.boolean())
    .map(([items, comma]) => [
      "{",
      ...items.flatMap((tokens, at) => (at > 0 ? [",", ...tokens] : tokens)),
      ...(comma && items.length > 0 ? [","] : []),
      "}",
    ]);

const imported = list(
  fc.oneof(
    name.map((each) => [each]),
    fc.tuple(exported, name).map(([there, here]) => [there, "as", here]),
  ),
);
const reexported = list(
  fc.oneof(
    exported.map((each) => [each]),
    fc.tuple(exported, exported).map(([there, here]) => [there, "as", here]),
  ),
);
const star = name.map((each) => ["*", "as", each]);

const clause = fc.oneof(
  name.map((each) => [each]),
  imported,
  star,
  fc.tuple(name, fc.oneof(imported, star)).map(([each, rest]) => [each, ",", ...rest]),
  name.map((each) => ["source", each]),
);
const attributes = fc.constantFrom<string[][]>([], ["with", "{", "type", ":", `"json"`, "}"], ["with", "{", "}"]);

const declaration = fc.oneof(
  fc.tuple(quoted, attributes).map(([from, rest]) => ["import", from, ...rest]),
  fc.tuple(clause, quoted, attributes).map(([what, from, rest]) => ["import", ...what, "from", from, ...rest]),
  fc
    .tuple(fc.oneof(reexported, star, fc.constant(["*"])), quoted, attributes)
    .map(([what, from, rest]) => ["export", ...what, "from", from, ...rest]),
  fc.tuple(exported, quoted).map(([what, from]) => ["export", "*", "as", what, "from", from]),
);
const expression = fc.oneof(
  quoted.map((from) => ["import", "(", from, ")"]),
  quoted.map((from) => ["import", "(", from, ",", "{", "}", ")"]),
  quoted.map((from) => ["import", ".", "source", "(", from, ")"]),
  fc.constant<string[]>(["import", ".", "meta"]),
);

const named = /^[\w$\\]|^[^\0-\x7f]/u;

/** With a gap before, behind and between all tokens. */
const written = (tokens: fc.Arbitrary<string[]>): fc.Arbitrary<string> =>
  tokens.chain((each) =>
    fc
      .tuple(...each.map((token, at) => gap(named.test(token) && named.test(each[at - 1] ?? ""))), gap(false))
      .map((gaps) => gaps.map((space, at) => space + (each[at] ?? "")).join("")),
  );

const before = fc.constantFrom(
  "",
  ";",
  "{}",
  "a;",
  "/a/;",
  "\\u{61};",
  "var b\n",
  "/*.*/",
  "//.\u2028",
  "`${a}`;",
  "...[];",
  "1.;",
);
const code = (tokens: fc.Arbitrary<string[]>): fc.Arbitrary<string> =>
  fc.tuple(before, written(tokens)).map(([first, head]) => first + head);

const numRuns = sized(12, 400);
const each = 100;

describe("whatever way an import is written", () => {
  it("is found where the engine would load a module before the code runs", async () => {
    const seen = { loads: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(code(declaration), { minLength: each, maxLength: each }), async (texts) => {
        const read = await readings(texts);
        const loading = texts.filter((_, at) => (read[at]?.loads ?? 0) > 0);
        seen.loads += loading.length;
        expect(loading.filter((text) => importAt(text) === undefined)).toEqual([]);
      }),
      { numRuns },
    );
    expect(seen.loads, "heads that the engine takes").toBeGreaterThan((numRuns * each) / 10);
  });

  it("is found where the engine would load one while the code runs, or says where the module is", async () => {
    const seen = { compiles: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(code(expression), { minLength: each, maxLength: each }), async (texts) => {
        const read = await readings(texts);
        const compiling = texts.filter((_, at) => read[at]?.compiles === true);
        seen.compiles += compiling.length;
        expect(compiling.filter((text) => importAt(text) === undefined)).toEqual([]);
      }),
      { numRuns },
    );
    expect(seen.compiles, "heads that the engine takes").toBeGreaterThan((numRuns * each) / 10);
  });
});

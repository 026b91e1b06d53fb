import { describe, expect, it } from "vitest";
import { barCeiling, ceilingsFile, closest, valuesOf } from "../support/words/ceiling.ts";
import { ceilings } from "../support/words/ceilings.ts";
import { isPassive, measure, sentencesOf, totalBar, wordsOf } from "../support/words/measure.ts";
import { emptySubject, replacedIn } from "../support/words/replaced-words.ts";
import { commentsIn, docstringsIn, measuredTexts } from "../support/words/texts.ts";

const names = ["words", "mean", "longest", "passive %", "replaced words"];
const texts = measuredTexts().filter(({ kind }) => kind !== "generated");

/** Words of all hand-written pages; it can only fall, down to the bar. */
const totalCeiling = 30_105;

describe("the measure", () => {
  it("counts words of text, tables and code, and no marks", () => {
    expect(wordsOf("| `a` b | --- |\n```ts\nconst x = 1;\n```")).toBe(6);
  });

  it("cuts sentences behind full stops, colons and question marks, and reads code as one word", () => {
    const text = "It returns `a. b`. Why? The [link. two](x.md): one.";
    expect(sentencesOf(text)).toEqual(["It returns code.", "Why?", "The link.", "two:", "one."]);
  });

  it("reads a short cell as a fragment, and one with a full stop or of 26 words as a sentence", () => {
    const long = Array.from({ length: 26 }, () => "word").join(" ");
    expect(measure("", [], ["a short cell", "It ends.", long])).toMatchObject({ sentences: 2, mean: 14, longest: 26 });
  });

  it.each(["The call is refused.", "It was not yet written.", "Files are automatically read."])(
    "finds the passive: %s",
    (text) => {
      expect(isPassive(text)).toBe(true);
    },
  );

  it("takes active sentences for active ones", () => {
    expect(isPassive("The kernel refuses the call.")).toBe(false);
    expect(isPassive("The call is open, and the tool waits.")).toBe(false);
  });

  it("reads descriptions and tags of docstrings, and comments of whole lines", () => {
    const source = "/** One. */\n// Two.\n/* Three. */\n/**\n * Four\n * five.\n *\n * @param x six\n */";
    expect(docstringsIn(source)).toEqual(["One.", "Four\nfive.", "six"]);
    expect(commentsIn(`${source}\n  // Seven\n  // eight.\n\n// prettier-ignore\nx(); // Nine.`)).toEqual([
      "Two.",
      "Seven eight.",
    ]);
  });

  it("finds replaced words and empty subjects", () => {
    expect(replacedIn("What nobody reads goes on.")).toEqual(["nobody", "goes on", "What"]);
    expect(replacedIn("What does the kernel check?")).toEqual([]);
  });
});

describe("docstrings begin with a noun or a verb", () => {
  it.each(texts.filter(({ kind }) => kind === "docstrings"))("$name", ({ parts }) => {
    expect(parts.filter((part) => emptySubject.test(part))).toEqual([]);
  });
});

describe("every text", () => {
  it.each(texts.map((text) => [text.name, text] as const))(
    "%s stays at the bars or below its ceiling",
    (name, text) => {
      const most = ceilings.get(name) ?? barCeiling;
      const above = valuesOf(text).flatMap((value, at) =>
        value > most[at]! ? [`${names[at]}: ${value}, at most ${most[at]}`] : [],
      );
      expect(above, `npm run words shows all; ${ceilingsFile} has the ceilings`).toEqual([]);
    },
  );

  it("has a ceiling only where it misses a bar: npm run words -- --ceilings", () => {
    const missing = texts.filter((text) => closest(text).some((value, at) => value > barCeiling[at]!));
    const needed = new Set(missing.map(({ name }) => name));
    expect([...ceilings.keys()].filter((name) => !needed.has(name))).toEqual([]);
  });

  it("has a ceiling near to its length: npm run words -- --ceilings", () => {
    const far = texts.filter((text) => (ceilings.get(text.name)?.[0] ?? 0) > closest(text)[0] + 300);
    expect(far.map(({ name }) => name)).toEqual([]);
  });

  it(`adds up to at most ${totalCeiling} words of hand-written pages; the bar is ${totalBar}`, () => {
    const pages = texts.filter(({ kind }) => kind === "page");
    expect(pages.reduce((sum, { words }) => sum + words, 0)).toBeLessThanOrEqual(totalCeiling);
  });
});

import { visible } from "@keyhole/kernel";
import { visibleLine } from "@keyhole/kernel/visible";
import { importFailure } from "../../packages/keyhole/src/plugin/imports.ts";
import { describe, expect, it } from "vitest";
import { visible as onTerminal } from "../../packages/keyhole/src/command/io.ts";
import { foldText } from "../../packages/kernel/src/support/fold.ts";
import { questionPage } from "../../packages/mcp/src/approvals/page.ts";
import { readDefinition } from "../../packages/kernel/src/foreign-tools/definition.ts";
import { differencesOf } from "../../packages/kernel/src/foreign-tools/difference.ts";
import { thorough } from "../support/size.ts";

/**
 * Characters end before U+34000, but for tags and selectors at U+E0000. Beyond, 900,000 points are nobody's in long ranges:
 * the ends of each plane and every 101st point show a fault there.
 */
const isSampled = (point: number): boolean =>
  thorough ||
  point < 0x34000 ||
  (point >= 0xe0000 && point < 0xe1000) ||
  (point + 2) % 0x10000 < 4 ||
  point % 101 === 0;
const points = Array.from({ length: 0x110000 }, (_, point) => point).filter(isSampled);
/** What folding drops, and what has no shape. Written apart from the code: the database of Unicode has the properties. */
const noShape = /^[\p{Default_Ignorable_Code_Point}\p{Other}\p{Separator}]$/u;
/** Signs and marks that Unicode's charts name blank, null or a filler. */
const blank: readonly string[] = ["\u2800", "\ufffc", "\u{16fe4}", "\u{1d159}"];
const layout: readonly string[] = ["\t", "\n", " "];
const hidden = points
  .map((point) => String.fromCodePoint(point))
  .filter((character) => (noShape.test(character) || blank.includes(character)) && !layout.includes(character));
const asEscape = (character: string): string =>
  [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
    .join("");

const question = (input: string) =>
  questionPage({
    title: "t",
    tool: "t",
    caller: "c",
    reason: "r",
    grants: [],
    effects: [],
    input,
    expiresAt: "z",
  } as never);

describe("every character that nobody sees", () => {
  it("is among them where folding drops it", () => {
    const dropped = points
      .map((point) => String.fromCodePoint(point))
      .filter((character) => character.trim() !== "" && foldText(`a${character}b`) === "ab");
    const found = new Set(hidden);
    expect(dropped.filter((character) => !found.has(character)).map(asEscape)).toEqual([]);
  });

  it.each([
    ["by the kernel", visible],
    ["on the terminal", onTerminal],
    ["in a changed definition", (text: string) => String(differencesOf({ a: "" }, { a: text })[0]?.seen)],
  ])("is shown %s", (_, show) => {
    const wrong = hidden.filter((character) => {
      const shown = show(`a${character}b`);
      return shown.includes(`a${character}b`) || !/a\\+(?:u[0-9a-f]{4}|[bfnrt])/.test(shown);
    });
    expect(wrong.slice(0, 20).map(asEscape)).toEqual([]);
  });

  it("is shown on an approval page", () => {
    const page = question(hidden.map((character) => `a${character}b`).join("|"));
    const shown = page.slice(page.indexOf("<pre>")).split("|").slice(0, hidden.length);
    expect(shown).toHaveLength(hidden.length);
    const wrong = hidden.filter((_, at) => !/a\\+(?:u[0-9a-f]{4}|[bfnrt])/.test(shown[at]!));
    expect(wrong.slice(0, 20).map(asEscape)).toEqual([]);
  });

  it("keeps a definition from being pinned unseen", () => {
    const wrong = hidden.filter((character) => {
      const read = readDefinition({ name: "t", description: `a${character}b` } as never);
      return read.ok && !read.hasUnseen;
    });
    expect(wrong.slice(0, 20).map(asEscape)).toEqual([]);
  });
});

describe("a space of another width in a description", () => {
  const isUnseen = (definition: object): boolean => {
    const read = readDefinition({ name: "t", ...definition });
    return !read.ok || read.hasUnseen;
  };
  const french =
    "Supprime le fichier\u00a0: attention\u202f! Jusqu’à «\u00a0demain\u00a0», 10\u00a0000\u202f€ ou n°\u00a05.";
  const japanese = "検索します。\u3000結果は一覧です。\u3000東京\u3000大阪";
  const schema = (more: object) => ({
    inputSchema: { type: "object", properties: { a: { type: "string", ...more } } },
  });

  it.each([
    ["French", french],
    ["Japanese", japanese],
  ])("is seen where %s has one", (_, description) => {
    expect([{ description }, schema({ description })].map(isUnseen)).toEqual([false, false]);
    // A person who looks at it still sees which space it is.
    expect(visible(description)).toContain("\\u");
  });

  it.each([
    ["between letters", "a\u00a0b"],
    ["between letters of no wide script", "read\u3000file"],
    ["twice", "a\u00a0\u00a0: b"],
    ["beside another space", "a\u00a0 : b"],
    ["at the end", "a:\u00a0"],
    ["at the beginning of a line", "a\n\u3000東"],
    ["beside what nobody sees", "a:\u00a0\u200bb"],
    ["beside a blank sign", "a\u00a0\u2800: b"],
    ["beside a filler of a wide script", "東\u3000\u3164京"],
  ])("is unseen %s", (_, description) => {
    expect(isUnseen({ description })).toBe(true);
  });

  it("of every other kind is unseen", () => {
    const seen = hidden.filter((character) => !isUnseen({ description: `10${character}: 東${character}京` }));
    expect(seen.map(asEscape)).toEqual([]);
    expect(hidden.filter((character) => !isUnseen({ description: `10${character}:` })).map(asEscape)).toEqual(
      ["\u00a0", "\u202f"].map(asEscape),
    );
  });

  it.each<[string, object]>([
    ["a name", { name: "t\u00a0:" }],
    ["a title", { title: french }],
    ["the name of an argument", { inputSchema: { properties: { "a\u00a0:": {} } } }],
    ["the name of an argument in the place of a description", { description: { "a\u00a0:": "" } }],
    ["a value", schema({ enum: ["a\u00a0:"] })],
    ["a member of a default", schema({ default: { description: french } })],
    ["a member of an example", schema({ examples: [{ description: french }] })],
    ["a member of a constant", schema({ const: { a: { description: french } } })],
  ])("is unseen in %s", (_, definition) => {
    expect(isUnseen(definition)).toBe(true);
  });
});

describe("a line of an output", () => {
  it("cannot be forged by a text of others", () => {
    const forged = "x\r\n\t✓ all passed";
    expect(visibleLine(forged)).toBe(String.raw`x\r\n\t✓ all passed`);
    expect(importFailure("/a/b.ts", "tool", "/a", new Error(forged)).message).not.toMatch(/[\r\n\t]/);
  });
});

describe("a joiner or a selector", () => {
  it.each([
    ["between letters", "a\u200db", true],
    ["behind a letter", "a\ufe0f", true],
    ["behind a pictograph alone", "😀\u200d", true],
    ["between two pictographs", "👩\u200d💻", false],
    ["behind a skin tone", "👩🏽\u200d🚀", false],
    ["behind a pictograph", "❤\ufe0f", false],
    ["between two pictographs with a selector", "❤\ufe0f\u200d🔥", false],
    ["in a keycap", "1\ufe0f\u20e3", false],
    ["behind a digit", "1\ufe0f", true],
    ["of another kind behind a pictograph", "😀\ufe0e\u{e0100}", true],
  ])("%s: shown as an escape: %s %s", (_, text, isShown) => {
    expect(visible(text) !== text).toBe(isShown);
  });

  it("of text in any script is left alone", () => {
    const text = "Grüße, 世界, مرحبا, नमस्ते\n\ttab\r\n";
    expect(visible(text)).toBe(text);
  });
});

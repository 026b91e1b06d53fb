// Prints how long and how plain every page is, and the messages and docstrings. Ceilings that a text went below are lowered.
// Passive: a form of `be`, at most two adverbs, and a participle; adjectives such as "is limited" count too.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ceilingsFile, lowered, valuesOf } from "../test/support/words/ceiling.ts";
import { ceilings } from "../test/support/words/ceilings.ts";
import { bars, totalBar } from "../test/support/words/measure.ts";
import { measuredTexts } from "../test/support/words/texts.ts";
import { root } from "./project.mjs";

const texts = measuredTexts();
/** @type {(value: number, bar: number) => string} */
const mark = (value, bar) => `${value}${value > bar ? "!" : " "}`.padStart(8);
console.log(`${"text".padEnd(44)}   words    mean longest passive % replaced`);
for (const text of texts) {
  const { name, kind, words, mean, longest, passive } = text;
  const [, , , , replaced] = valuesOf(text);
  const ofWords = kind === "page" ? mark(words, bars.words) : `${words} `.padStart(8);
  console.log(
    `${name.padEnd(44)}${ofWords}${mark(mean, bars.mean)}${mark(longest, bars.longest)}${mark(passive, bars.passive)}${mark(replaced, 0)}`,
  );
}
const total = texts.filter(({ kind }) => kind === "page").reduce((sum, { words }) => sum + words, 0);
console.log(`\n${total} words on hand-written pages; the bar is ${totalBar}.`);
console.log(`Bars: mean ${bars.mean}, longest ${bars.longest}, passive ${bars.passive} %. "!" is above its bar.`);
if (process.argv.includes("--ceilings")) writeFileSync(join(root, ceilingsFile), lowered(texts, ceilings));

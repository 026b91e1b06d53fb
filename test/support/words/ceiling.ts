import { bars, sentencesOf } from "./measure.ts";
import { replacedIn } from "./replaced-words.ts";
import type { MeasuredText } from "./texts.ts";

/** The most that a text may have of each: words, mean, longest, passive, replaced words. */
export type Ceiling = readonly [words: number, mean: number, longest: number, passive: number, replaced: number];

export const ceilingsFile = "test/support/words/ceilings.ts";

/** The bars: what a text without an own ceiling meets. */
export const barCeiling: Ceiling = [bars.words, bars.mean, bars.longest, bars.passive, 0];

/** What the text has now. Words count on hand-written pages only. Replaced words: on a page their number, elsewhere those in 100 sentences. */
export function valuesOf({ kind, words, mean, longest, passive, parts, sentences }: MeasuredText): Ceiling {
  const replaced = parts.flatMap(sentencesOf).flatMap(replacedIn).length;
  if (kind === "page") return [words, mean, longest, passive, replaced];
  return [0, mean, longest, passive, Math.round((1_000 * replaced) / Math.max(1, sentences)) / 10];
}

/** The ceilings that a text would have if it had none: what it has, with a little room for a sentence more. */
export function closest(text: MeasuredText): Ceiling {
  const [words, mean, longest, passive, replaced] = valuesOf(text);
  return [
    Math.max(bars.words, Math.ceil((words + 50) / 100) * 100),
    Math.max(bars.mean, Math.ceil(mean * 2) / 2),
    Math.max(bars.longest, longest),
    Math.max(bars.passive, Math.ceil(passive) + 1),
    text.kind === "page" ? replaced : Math.ceil(replaced + 1),
  ];
}

/** The source of the list. */
export function lowered(texts: readonly MeasuredText[], before: ReadonlyMap<string, Ceiling>): string {
  const lines = texts
    .filter(({ kind }) => kind !== "generated")
    .map((text) => [text.name, lowest(closest(text), before.get(text.name))] as const)
    .filter(([, ceiling]) => ceiling.some((value, at) => value > barCeiling[at]!))
    .map(([name, ceiling]) => `  [${JSON.stringify(name)}, [${ceiling.join(", ")}]],`);
  return [
    'import type { Ceiling } from "./ceiling.ts";',
    "",
    "/**",
    " * Texts that miss a bar: words, mean, longest, passive %, replaced words. The list can only shrink;",
    " * `npm run words -- --ceilings` lowers it to what stands.",
    " */",
    "export const ceilings: ReadonlyMap<string, Ceiling> = new Map<string, Ceiling>([",
    ...lines,
    "]);",
    "",
  ].join("\n");
}

function lowest(now: Ceiling, before: Ceiling = now): Ceiling {
  const [words, mean, longest, passive, replaced] = before;
  return [
    Math.min(now[0], words),
    Math.min(now[1], mean),
    Math.min(now[2], longest),
    Math.min(now[3], passive),
    Math.min(now[4], replaced),
  ];
}

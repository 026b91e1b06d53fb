/** What the command `npm run words` prints of one text. */
export interface Measure {
  /** Every token with a letter or a digit: in prose, headings, tables and code. */
  readonly words: number;
  readonly sentences: number;
  /** Words of a sentence on average. */
  readonly mean: number;
  /** Words of the longest sentence. */
  readonly longest: number;
  /** Of 100 sentences, those with a passive verb. */
  readonly passive: number;
}

/** The bars that a text meets unless `ceilings.ts` lists it. */
export const bars = { words: 1_000, mean: 12, longest: 25, passive: 10 } as const;

/** Words of all pages that people write. */
export const totalBar = 24_000;

/** Participles without `-ed` that these texts use. */
const irregular =
  "begun|bound|broken|brought|built|caught|chosen|cut|done|drawn|driven|fed|felt|found|given|gone|got|held|hidden|kept|known|laid|led|left|lent|let|lost|made|meant|met|paid|put|read|run|said|seen|sent|set|shown|shut|split|spent|stolen|stood|struck|taken|taught|thrown|told|torn|understood|undone|won|woken|written";

/** A form of `be`, at most two adverbs, and a participle. Participles that are adjectives count too. */
const passiveVerb = new RegExp(
  `\\b(?:am|is|are|was|were|be|been|being)\\s+(?:(?:not|yet|never|also|only|then|always|already|again|still|\\w+ly)\\s+){0,2}(?:[a-z]+-)?(?:\\w{2,}(?:[^e\\W]|e)ed|\\w+ied|${irregular})\\b`,
  "i",
);

const isWord = (token: string): boolean => /[\p{L}\p{N}]/u.test(token);

export function wordsOf(text: string): number {
  return text.split(/\s+/).filter(isWord).length;
}

/** Cuts behind `.`, `!`, `?` and `:`, and reads code and links as single words. */
export function sentencesOf(text: string): readonly string[] {
  const plain = text
    .replaceAll(/`[^`]+`/g, "code")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("**", "");
  return plain.split(/(?<=[.!?:][)"]?)\s+/).filter(isWord);
}

/** @param fragments texts such as cells: a short one without a full stop is no sentence, a long one is */
export function measure(whole: string, blocks: readonly string[], fragments: readonly string[] = []): Measure {
  const ofFragments = fragments
    .flatMap(sentencesOf)
    .filter((each) => /[.!?]$/.test(each) || wordsOf(each) > bars.longest);
  const sentences = [...blocks.flatMap(sentencesOf), ...ofFragments];
  const lengths = sentences.map(wordsOf);
  const count = Math.max(1, sentences.length);
  return {
    words: wordsOf(whole),
    sentences: sentences.length,
    mean: round(lengths.reduce((sum, each) => sum + each, 0) / count),
    longest: Math.max(0, ...lengths),
    passive: round((100 * sentences.filter(isPassive).length) / count),
  };
}

export function isPassive(sentence: string): boolean {
  return passiveVerb.test(sentence);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

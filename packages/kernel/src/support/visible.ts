/*
 * What nobody sees and a program or a model reads: whatever the folds drop (`fold.ts`), what reorders its neighbours, what has no shape on this machine. Everything that
 * shows a foreign text to a person, or takes a text for one that a person has seen, asks here.
 *
 * Every space but that of the keyboard looks like it, and means another word or file. Four signs have an empty glyph by definition, which no property of Unicode tells.
 *
 * Line feed, tab and the CR of a CRLF are layout. A joiner between two pictographs, and a variation selector behind one or in a keycap, belong to the sign that they make.
 */
const joined = String.raw`(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})`;
const selected = String.raw`(?<=\p{Extended_Pictographic})\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)`;
const layout = String.raw`[\n\t]|\r(?=\n)`;
export const blank: string = String.raw`\u2800\ufffc\u{16fe4}\u{1d159}`;
const pattern = String.raw`(?!${joined}|${selected}|${layout}| )[\p{DI}\p{C}\p{Z}${blank}]`;
const invisible = new RegExp(pattern, "u");
const eachInvisible = new RegExp(pattern, "gu");

/** Whether a text has a character that a person does not see. */
export function hasInvisible(text: string): boolean {
  return invisible.test(text);
}

/**
 * A text with an escape of JSON in the place of each character that a person does not see. JSON stays the same JSON. A second pass changes nothing.
 *
 * @example
 * visible("ada\u3164"); // "ada\\u3164"
 */
export function visible(text: string): string {
  return text.replace(eachInvisible, escaped);
}

/** The same in one line: a foreign text forges no line of an output. */
export function visibleLine(text: string): string {
  return visible(text).replace(/[\t\n\r]/g, (character) => JSON.stringify(character).slice(1, -1));
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

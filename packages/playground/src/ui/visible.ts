/**
 * Characters without a shape of their own, and characters that reorder the text beside them: control and format characters, line and
 * paragraph separators, private use, lone surrogates, fillers and tags. Line feed, tab and the CR of a CRLF are layout. A variation selector
 * behind a pictograph belongs to the pictograph.
 */
const invisible =
  /(?<!\p{Extended_Pictographic})\ufe0f|(?!\ufe0f)\p{Default_Ignorable_Code_Point}|[\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2800]|\r(?!\n)|(?![\n\r\t])\p{Cc}/gu;

/**
 * Untrusted text with each such character replaced by its JSON escape, so that no data looks like other data. The result of JSON stays
 * the same JSON. A second pass changes nothing.
 */
export function visible(text: string): string {
  return text.replace(invisible, escaped);
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => unitOf(character, at)).join("");
}

function unitOf(character: string, at: number): string {
  return `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
}

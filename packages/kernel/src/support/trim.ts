/**
 * A text without the characters up to U+0020 at both ends, which parsers of URLs drop. Not by an expression: one for the end of a text is tried at
 * each blank of a run. That takes the square of its length.
 */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(start, end);
}

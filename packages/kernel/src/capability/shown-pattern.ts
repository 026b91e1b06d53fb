/**
 * A pattern as one word of a description. The author of a tool chooses the patterns of its manifest, and people allow calls by their description. One that could pass for several patterns,
 * for a word of the description or for another line stands in quotes.
 */
export function shownPattern(pattern: string): string {
  return /^[\w.,:=/+*@-]*[\w.:=/+*@-]$/.test(pattern) ? pattern : JSON.stringify(pattern);
}

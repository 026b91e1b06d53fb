const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

export interface JsonTextLimits {
  /** Arrays and objects within each other. */
  readonly depth: number;
  /** Of the object at the top. */
  readonly topMembers: number;
  /** Of all objects together: engines take far longer for one than for an item of an array. */
  readonly members: number;
  /** Of any kind. */
  readonly values: number;
}

/** The excess of a JSON text over its limits, as a sentence. Told from the signs of the text, before it is parsed. Says nothing about what is no JSON at all. */
export function excessOf(text: string, limits: JsonTextLimits): string | undefined {
  const counted = { topMembers: 0, members: 0, values: 1 };
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const sign = text.charCodeAt(i);
    if (sign === QUOTE) i = endOfString(text, i) - 1;
    else if (sign === COLON) {
      counted.members++;
      if (depth === 1) counted.topMembers++;
    } else if (sign === COMMA) counted.values++;
    else if (sign === OPENING_BRACE || sign === OPENING_BRACKET) {
      counted.values++;
      depth++;
    } else if (sign === CLOSING_BRACE || sign === CLOSING_BRACKET) depth--;
    else continue;
    if (depth > limits.depth) return `The body nests deeper than ${limits.depth} levels.`;
    if (counted.topMembers > limits.topMembers)
      return `The body has more than ${limits.topMembers} members at its top.`;
    if (counted.members > limits.members)
      return `The objects of the body have more than ${limits.members} members together.`;
    if (counted.values > limits.values) return `The body has more than ${limits.values} values.`;
  }
  return undefined;
}

/** Behind its closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === BACKSLASH) i++;
    else if (unit === QUOTE) return i + 1;
  }
  return text.length;
}

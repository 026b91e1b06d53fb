/**
 * What speaks against a JSON text before it is parsed, as a sentence: brackets nested deeper than `maxDepth`, or a name twice in one object, of which every
 * reader takes another one. Says nothing about what is no JSON at all.
 */
export function jsonTextFault(text: string, maxDepth: number): string | undefined {
  /** The names of each open object; of an open array, nothing. */
  const open: (Set<string> | undefined)[] = [];
  let isName = false;
  for (let i = 0; i < text.length; i++) {
    switch (text.charAt(i)) {
      case '"': {
        const end = endOfString(text, i);
        const names = open.at(-1);
        if (isName && names !== undefined) {
          const name = nameOf(text.slice(i, end));
          if (names.has(name)) return `The body has the name ${JSON.stringify(name.slice(0, 64))} twice in one object.`;
          names.add(name);
        }
        isName = false;
        i = end - 1;
        break;
      }
      case "{":
      case "[":
        open.push(text.charAt(i) === "{" ? new Set() : undefined);
        isName = text.charAt(i) === "{";
        if (open.length > maxDepth) return `The body is nested deeper than ${maxDepth} levels.`;
        break;
      case "}":
      case "]":
        open.pop();
        isName = false;
        break;
      case ",":
        isName = open.at(-1) !== undefined;
        break;
    }
  }
  return undefined;
}

/** Behind its closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x5c) i++;
    else if (unit === 0x22) return i + 1;
  }
  return text.length;
}

/** Of a string literal; one that is none stands for itself. */
function nameOf(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

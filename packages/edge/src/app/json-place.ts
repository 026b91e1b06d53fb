/** Where a text stops being JSON (RFC 8259), as half a sentence: `line 1, column 12: expected a value, got "}"`. Only for texts that are none. */
export function jsonPlace(text: string): string {
  const { at, wanted } = stopOf(text);
  const before = text.slice(0, at).split("\n");
  const found = at < text.length ? JSON.stringify(String.fromCodePoint(text.codePointAt(at)!)) : "the end";
  return `line ${before.length}, column ${before.at(-1)!.length + 1}: expected ${wanted}, got ${found}`;
}

interface Stop {
  readonly at: number;
  readonly wanted: string;
}

const space = /[ \t\r\n]*/y;
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function stopOf(text: string): Stop {
  const open: ("{" | "[")[] = [];
  let at = 0;
  let wanted = "a value";
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const behindValue = (): string => {
    const inside = open.at(-1);
    return inside === undefined ? "the end" : inside === "{" ? "a comma or }" : "a comma or ]";
  };
  for (;;) {
    skip(space);
    const next = text.charAt(at);
    const isOpening = wanted.startsWith("a value") && (next === "{" || next === "[");
    const isClosing = /[}\]]/.test(next) && wanted.endsWith(` or ${next}`);
    if (isOpening) {
      open.push(next);
      at++;
      wanted = next === "{" ? "a name in quotation marks or }" : "a value or ]";
    } else if (isClosing) {
      open.pop();
      at++;
      wanted = behindValue();
    } else if (wanted.startsWith("a comma") && next === ",") {
      at++;
      wanted = open.at(-1) === "{" ? "a name in quotation marks" : "a value";
    } else if (wanted === "a colon" && next === ":") {
      at++;
      wanted = "a value";
    } else if (next === '"' && (wanted.startsWith("a value") || wanted.startsWith("a name"))) {
      const end = endOfString(text, at);
      if (typeof end !== "number") return end;
      at = end;
      wanted = wanted.startsWith("a name") ? "a colon" : behindValue();
    } else if (wanted.startsWith("a value") && skip(scalar)) wanted = behindValue();
    else return { at, wanted };
  }
}

/** Behind its closing quote, or where it stops being a string. */
function endOfString(text: string, start: number): number | Stop {
  let at = start + 1;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return at + 1;
    if (Number.isNaN(unit)) return { at, wanted: "a closing quotation mark" };
    if (unit < 0x20) return { at, wanted: "no control character in a string" };
    if (unit === 0x5c) {
      escape.lastIndex = at;
      if (!escape.test(text)) return { at, wanted: "an escape that JSON has" };
      at = escape.lastIndex;
    } else at++;
  }
}

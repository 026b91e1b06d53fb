import { endOfString } from "./json-excess.ts";
import { pointerOf } from "./pointer.ts";

/** Why two readers of a JSON text can see two values. `path` is a JSON Pointer (RFC 6901) to the member or the number. */
export interface JsonTextFault {
  readonly reason: "repeated-name" | "inexact-number";
  readonly path: string;
}

/** For the sender of the text. */
export function jsonTextFaultMessage({ reason, path }: JsonTextFault): string {
  const place = path.slice(0, 200).toWellFormed();
  if (reason === "repeated-name") return `An object has the member ${place} twice. Send it once.`;
  return `JavaScript cannot hold the number at ${place || "the top"} exactly. Send it as a string.`;
}

/** An open object with its names, or an open array, and the place of the value within it. */
interface Open {
  readonly names?: Set<string>;
  place: string | number;
}

const number = /-?\d[\d.eE+-]*/y;

/**
 * The first place of a JSON text of which two readers take two values: a name that one object has twice, and a number that a double
 * cannot hold (RFC 7493, 2.2 and 2.3). Such a number is an integer without fraction and exponent that is not exactly the value of its
 * double, or is infinite.
 *
 * @param text that `JSON.parse` takes
 */
export function jsonTextFault(text: string): JsonTextFault | undefined {
  const open: Open[] = [];
  const faultOf = (reason: JsonTextFault["reason"]): JsonTextFault => ({
    reason,
    path: pointerOf(open.map(({ place }) => place)).toWellFormed(),
  });
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    const inner = open.at(-1);
    if (sign === '"') {
      const end = endOfString(text, at);
      if (isName && inner?.names) {
        inner.place = nameOf(text.slice(at, end + 1));
        if (inner.names.has(inner.place)) return faultOf("repeated-name");
        inner.names.add(inner.place);
      }
      isName = false;
      at = end;
    } else if (sign === "{" || sign === "[") {
      isName = sign === "{";
      open.push(isName ? { names: new Set(), place: "" } : { place: 0 });
    } else if (sign === "}" || sign === "]") {
      open.pop();
      isName = false;
    } else if (sign === "," && inner) {
      isName = inner.names !== undefined;
      if (typeof inner.place === "number") inner.place++;
    } else if (sign === "-" || (sign >= "0" && sign <= "9")) {
      number.lastIndex = at;
      const literal = number.exec(text)?.[0] ?? sign;
      if (!isExact(literal)) return faultOf("inexact-number");
      at += literal.length - 1;
    }
  }
  return undefined;
}

/** Each integer of 15 digits has a double of its own. */
function isExact(literal: string): boolean {
  if (literal.length <= 15 && !/e/i.test(literal)) return true;
  const value = Number(literal);
  return Number.isFinite(value) && (/[.e]/i.test(literal) || BigInt(literal) === BigInt(value));
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

import { type Position, positionsIn } from "./json-places.ts";
import { JsonScan, type JsonStop } from "./json-scan.ts";
import { pointerOf } from "./pointer.ts";

/** Why a reader takes no JSON text, or two readers take two values. */
export interface JsonTextFault extends Position {
  readonly reason: "syntax" | "repeated-name" | "inexact-number";
  /** JSON Pointer (RFC 6901) to the member or the value. */
  readonly path: string;
  /** For the sender of the text. */
  readonly message: string;
}

/**
 * The first place of a text that is no JSON (RFC 8259), or of which two readers take two values: a name that one object has twice,
 * and a number that a double cannot hold (RFC 7493, 2.2 and 2.3). Such a number is an integer without fraction and exponent that is not exactly the
 * value of its double, or is infinite. It builds nothing, so it can look at a text before it is parsed.
 *
 * @param numbers `any` leaves the numbers alone
 * @param noun the name of the text in the messages
 * @example
 * const fault = jsonTextFault(text, "exact", "body");
 * if (fault) throw new Error(fault.message);
 */
export function jsonTextFault(
  text: string,
  numbers: "exact" | "any" = "exact",
  noun = "text",
): JsonTextFault | undefined {
  const scan = new JsonScan(text);
  let reason: JsonTextFault["reason"] | undefined;
  while (reason === undefined && scan.next()) {
    if (scan.step === "name" && scan.isRepeated) reason = "repeated-name";
    const isNumber = scan.step === "scalar" && numbers === "exact";
    if (isNumber && !isExact(text.slice(scan.start, scan.end))) reason = "inexact-number";
  }
  const { stop, start } = scan;
  if (stop) reason = "syntax";
  if (reason === undefined) return undefined;
  const position = positionsIn(text)(stop?.at ?? start);
  const path = pointerOf(scan.path).toWellFormed();
  const place = path.slice(0, 200).toWellFormed();
  const message = stop
    ? stopMessage(stop, position, text, noun)
    : reason === "repeated-name"
      ? `An object has the member ${place} twice. Send it once.`
      : `JavaScript cannot hold the number at ${place || "the top"} exactly. Send it as a string.`;
  return { reason, path, ...position, message };
}

function stopMessage({ at, expected }: JsonStop, { line, column }: Position, text: string, noun: string): string {
  const got = at < text.length ? JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0)) : "the end";
  return `The ${noun} is not JSON: line ${line}, column ${column}: expected ${expected}, got ${got}.`;
}

/** Of a number; each integer of 15 digits has a double of its own. */
function isExact(literal: string): boolean {
  if (!/^[-\d]/.test(literal) || (literal.length <= 15 && !/e/i.test(literal))) return true;
  const value = Number(literal);
  return Number.isFinite(value) && (/[.e]/i.test(literal) || BigInt(literal) === BigInt(value));
}

import type { JsonValue } from "@keyhole/kernel";
import { decodeBase64, encodeBase64 } from "@keyhole/kernel/foreign";
import type { SqlValue } from "./database.ts";

/**
 * Cells as JSON and back. JSON values stay as they are. Each other value is an object with one
 * member, which no cell can be: `{ base64 }` for a BLOB, `{ integer }` (decimal digits) for an
 * integer that a double does not hold, `{ real }` for an infinity.
 */
export function jsonOf(value: SqlValue): JsonValue {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { integer: String(value) };
  }
  if (value instanceof Uint8Array) return { base64: encodeBase64(value) };
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number" && !Number.isFinite(value)) return { real: value > 0 ? "Infinity" : "-Infinity" };
  return value;
}

/** The cell that a parameter stands for; a text says what is wrong with it, as the end of a sentence. */
export function cellOf(value: JsonValue): { readonly cell: SqlValue } | string {
  if (value === null || typeof value === "string") return { cell: value };
  if (typeof value === "boolean") return { cell: value ? 1n : 0n };
  // JSON has one kind of number: 1.0 is 1, and an integer for SQLite.
  if (typeof value === "number") return { cell: Number.isSafeInteger(value) ? BigInt(value) : value };
  if (Array.isArray(value)) return "is a list; a parameter is one value";
  const [[form, content] = [], ...more] = Object.entries(value);
  if (more.length > 0 || typeof content !== "string") return otherForm;
  if (form === "integer") return integerOf(content);
  if (form === "base64") return blobOf(content);
  if (form === "real" && (content === "Infinity" || content === "-Infinity")) return { cell: Number(content) };
  return otherForm;
}

const otherForm = "is an object other than { base64 }, { integer } and { real }";

function integerOf(text: string): { readonly cell: SqlValue } | string {
  const value = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return value === undefined || BigInt.asIntN(64, value) !== value ? "is not a 64-bit integer" : { cell: value };
}

function blobOf(text: string): { readonly cell: SqlValue } | string {
  const cell = /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0 ? decodeBase64(text) : undefined;
  return cell ? { cell } : "is not base64";
}

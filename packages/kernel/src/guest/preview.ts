import { isList } from "../support/guards.ts";
import * as limits from "../limits.ts";

/**
 * The start of a value that is no plain data, JSON-like, for a person or a model. It calls no getter,
 * and ends soon for a cycle and for a value without end: each step writes a character at least.
 */
export function previewOf(value: unknown): string {
  const preview = { text: "" };
  try {
    write(value, preview);
  } catch {
    preview.text += "…"; // A trap of a proxy.
  }
  return preview.text.slice(0, limits.messageLength).toWellFormed();
}

function write(value: unknown, preview: { text: string }): void {
  if (preview.text.length > limits.explanationLength) return;
  if (typeof value === "string") preview.text += JSON.stringify(value.slice(0, limits.explanationLength));
  else if (typeof value === "bigint" || typeof value === "number") preview.text += `${value}`;
  else if (typeof value === "symbol" || typeof value === "function") preview.text += `<${typeof value}>`;
  else if (value === null || typeof value !== "object") preview.text += `${value as null | boolean | undefined}`;
  else if (ArrayBuffer.isView(value)) preview.text += `<${value.byteLength} bytes>`;
  else writeParts(value, preview);
}

function writeParts(value: object, preview: { text: string }): void {
  const keys = isList(value) ? value.keys() : Object.keys(value);
  preview.text += isList(value) ? "[" : "{";
  let separator = "";
  for (const key of keys) {
    if (preview.text.length > limits.explanationLength) return;
    preview.text += separator;
    separator = ",";
    if (typeof key === "string") preview.text += `${JSON.stringify(key.slice(0, limits.explanationLength))}:`;
    const part = Object.getOwnPropertyDescriptor(value, key);
    if (part?.get || part?.set) preview.text += "<getter>";
    else write(part?.value, preview);
  }
  preview.text += isList(value) ? "]" : "}";
}

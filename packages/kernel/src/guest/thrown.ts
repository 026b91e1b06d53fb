import { safeErrorField } from "../support/safe-error-field.ts";
import type { IsolateOutcome } from "../isolate/port.ts";

/** UTF-16 units of what a thrown value may say about itself. */
const MESSAGE_LENGTH = 2_000;
const NAME_LENGTH = 100;

/**
 * The thrown value of a tool, as bounded text. A tool can throw any value: getters and proxies that
 * throw again give the default.
 */
export function thrownOutcome(thrown: unknown): Extract<IsolateOutcome, { kind: "threw" }> {
  if (typeof thrown !== "object" || thrown === null)
    return { kind: "threw", name: "Error", message: cut(text(thrown), MESSAGE_LENGTH) };
  const code = safeErrorField(thrown, "code");
  return {
    kind: "threw",
    name: cut(safeErrorField(thrown, "name") ?? "Error", NAME_LENGTH),
    message: cut(safeErrorField(thrown, "message") ?? "", MESSAGE_LENGTH),
    ...(code !== undefined && { code: cut(code, NAME_LENGTH) }),
  };
}

/** Cut and made well-formed, so that it can go into a canonical log. */
export function boundedMessage(message: string): string {
  return cut(message, MESSAGE_LENGTH);
}

function cut(value: string, length: number): string {
  return value.slice(0, length).toWellFormed();
}

function text(primitive: unknown): string {
  try {
    return String(primitive);
  } catch {
    return "";
  }
}

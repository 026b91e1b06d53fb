import type { IsolateOutcome } from "@keyhole/kernel";
import { protocolLimits } from "../protocol/limits.ts";

const { messageLength, nameLength } = protocolLimits;

/** What a tool threw, as bounded text. Anything can be thrown: getters and proxies that throw again end as their default. */
export function thrownOutcome(thrown: unknown): Extract<IsolateOutcome, { kind: "threw" }> {
  if (typeof thrown !== "object" || thrown === null) return { kind: "threw", name: "Error", message: cut(text(thrown), messageLength) };
  const code = read(thrown, "code");
  return {
    kind: "threw",
    name: cut(read(thrown, "name") ?? "Error", nameLength),
    message: cut(read(thrown, "message") ?? "", messageLength),
    ...(code !== undefined && { code: cut(code, nameLength) }),
  };
}

/** Cut and made well-formed, so that it can go into a canonical log. */
export function boundedMessage(message: string): string {
  return cut(message, messageLength);
}

function cut(value: string, length: number): string {
  return value.slice(0, length).toWellFormed();
}

function read(object: object, key: string): string | undefined {
  try {
    const value: unknown = Reflect.get(object, key);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function text(primitive: unknown): string {
  try {
    return String(primitive);
  } catch {
    return "";
  }
}

import { isJsonObject, type JsonValue, type LogEntry } from "@keyhole/kernel";
import { readBody, readObject } from "../wire/body.ts";
import { headers } from "../wire/headers.ts";
import { callError } from "./call-error.ts";
import type { Answer } from "./inbox.ts";
import type { CallReports } from "./options.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const levels = ["debug", "info", "warn", "error"] as const satisfies readonly LogEntry["level"][];

/** The output in a result; `undefined` for one that cannot be read. */
export function readResult({ headers: all, body }: Answer): JsonValue | Uint8Array | undefined {
  switch (all.get(headers.form)) {
    case "json":
      return readBody(body);
    case "text":
      return textOf(body);
    case "binary":
      return body.slice();
    default:
      return undefined;
  }
}

function textOf(body: Uint8Array): string | undefined {
  try {
    return decoder.decode(body);
  } catch {
    return undefined;
  }
}

/** The serving kernel's report of a failed call. The caller shows its words and derives nothing from them. */
export function readFailure({ body }: Answer, tool: string): Error {
  const { code, message, hint, ran } = readObject(body) ?? {};
  const words = [message, hint]
    .flatMap((each) => (typeof each === "string" ? [each] : []))
    .join(" ")
    .trim();
  const name = typeof code === "string" && /^[A-Z_]{1,64}$/.test(code) ? code : "UNKNOWN";
  const isUnknown = ran !== "no" && (name === "RESULT_GONE" || name === "INVALID_INPUT");
  return callError(
    ran === "no" ? "no" : isUnknown ? "unknown" : "maybe",
    `The kernel that serves ${tool} ended the call (${name}): ${words}`,
  );
}

/** Hands a report on; one without the form of one is dropped. */
export function readReport(kind: "progress" | "log", { body }: Answer, { log, progress }: CallReports): void {
  const value = readBody(body);
  if (!isJsonObject(value)) return;
  const { done, total, message, level } = value;
  const text = typeof message === "string" ? message : undefined;
  if (kind === "log") {
    const known = levels.find((each) => each === level);
    if (text !== undefined) log(text, known ?? "info");
  } else if (typeof done === "number")
    progress({ done, ...(typeof total === "number" && { total }), ...(text !== undefined && { message: text }) });
}

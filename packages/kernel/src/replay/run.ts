import { parseJson } from "../normalize/snapshot.ts";
import type { JsonObject, JsonValue } from "../normalize/json.ts";
import { requireValidator } from "../schema/require.ts";

/**
 * One entry of a run: all that a tool could observe, in the order in which it happened. A run file (`.keyhole`) has one per line, after a header.
 */
export type RunEntry =
  /** A call reached its isolate. */
  | {
      readonly kind: "call";
      readonly callId: string;
      readonly sessionId: string;
      readonly tool: string;
      readonly toolHash: string;
      readonly inputText: string;
      readonly outputKind: "json" | "text" | "binary";
      readonly outputBytes: number;
      readonly seed: string;
      readonly nowMs: number;
      /** Sources that were real, not logical: such a call cannot be replayed. */
      readonly real: readonly ("clock" | "random")[];
    }
  /** The tool asked for its capability request number `index`. */
  | { readonly kind: "request"; readonly callId: string; readonly index: number; readonly requestHash: string }
  /** It was answered. `body` is base64. */
  | {
      readonly kind: "reply";
      readonly callId: string;
      readonly index: number;
      readonly reply: JsonObject;
      readonly body: string | null;
    }
  /** The isolate's answer ended the call. */
  | { readonly kind: "outcome"; readonly callId: string; readonly outcome: string; readonly outcomeHash: string };

export interface Run {
  readonly entries: readonly RunEntry[];
}

const header = { format: "keyhole-run", v: 1 } as const;

/** A run as the text of a `.keyhole` file: JSON Lines. It holds arguments and answers in full; treat it as they are treated. */
export function writeRun({ entries }: Run): string {
  return [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("");
}

export type RunResult =
  | { readonly ok: true; readonly run: Run }
  | { readonly ok: false; readonly line: number; readonly reason: string };

const text = { type: "string", maxLength: 1_000 } as const;
const digest = { type: "string", pattern: "^blake3:[0-9a-f]{64}$" } as const;
const count = { type: "integer", minimum: 0, maximum: 1_000_000_000_000_000 } as const;
const entry = (kind: RunEntry["kind"], properties: JsonObject): JsonObject => ({
  type: "object",
  properties: { kind: { const: kind }, callId: text, ...properties },
  required: ["kind", "callId", ...Object.keys(properties)],
  additionalProperties: false,
});

const validator = requireValidator({
  oneOf: [
    entry("call", {
      sessionId: text,
      tool: text,
      toolHash: digest,
      inputText: { type: "string" },
      outputKind: { enum: ["json", "text", "binary"] },
      outputBytes: count,
      seed: { type: "string", pattern: "^[0-9a-f]{64}$" },
      nowMs: { type: "number" },
      real: { type: "array", items: { enum: ["clock", "random"] } },
    }),
    entry("request", { index: count, requestHash: digest }),
    entry("reply", { index: count, reply: { type: "object" }, body: { type: ["string", "null"] } }),
    entry("outcome", { outcome: text, outcomeHash: digest }),
  ],
});

/** Reads the lines of a run file. They are foreign: what is not a run is refused, with its line, and nothing of it is executed. */
export function readRun(lines: Iterable<string>): RunResult {
  const entries: RunEntry[] = [];
  let line = 0;
  const refuse = (reason: string): RunResult => ({ ok: false, line, reason });
  for (const content of lines) {
    line++;
    if (content === "" && line > 1) continue; // behind the last line end
    const parsed = parseJson(content);
    if (!parsed.ok) return refuse(`It is not JSON: ${parsed.error.message}.`);
    if (line === 1) {
      if (!isHeader(parsed.value)) return refuse(`A run file begins with ${JSON.stringify(header)}.`);
      continue;
    }
    const valid = validator.validate(parsed.value);
    if (!valid.ok) return refuse(`It is no entry of a run: ${valid.errors[0]!.message}`);
    entries.push(valid.value as RunEntry);
  }
  return line === 0 ? refuse("The file is empty.") : { ok: true, run: { entries } };
}

function isHeader(value: JsonValue): boolean {
  const { format, v } = (value ?? {}) as JsonObject;
  return format === header.format && v === header.v;
}

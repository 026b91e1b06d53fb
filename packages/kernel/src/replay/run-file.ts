import { digestPattern } from "../hash/hash.ts";
import { ceilings } from "../limits.ts";
import { present } from "../support/guards.ts";
import { LineFault } from "../audit/lines.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import type { DigestAlgorithm, Hash } from "../hash/hash.ts";
import { hashFor, hashOf } from "../hash/hash-by-algorithm.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../json/json.ts";
import { jsonTextFault } from "../json/json-text-fault.ts";
import { parseJson } from "../json/snapshot.ts";
import { allParts } from "../schema/all-parts.ts";
import { explain } from "../schema/explain/index.ts";
import { requireValidator } from "../schema/compile-own.ts";
import { type Run, type RunEntry, runFault } from "./run.ts";
import { RUN_DEPTH } from "./recorded-value.ts";

/*
 * A run as a file: JSON Lines. The first line says what it is and in which algorithm all its digests are; the last one how many entries there are, and the digest over all lines before it, so that
 * a file that was cut or changed is not taken for a run.
 */

/**
 * UTF-8 bytes of one line of a run file, with room for the rest of an entry: a buffered output has at most 24 MiB, and JSON takes six bytes for a control character of it. What Keyhole writes,
 * Keyhole reads.
 */
export const RUN_LINE_BYTES = 201_326_592;

/** Of one line: an entry is a value of the largest size in a frame. */
const lineLimits = { maxDepth: RUN_DEPTH, maxStringUnits: RUN_LINE_BYTES, maxNodes: 2_000_000, maxMembers: 500_000 };

const format = { format: "keyhole-run", v: 1 } as const;
const headerOf = (algorithm: DigestAlgorithm): string => JSON.stringify({ ...format, algorithm });

/** The text of a `.keyhole` file. It holds arguments and answers in full; treat it as they are treated. */
export function writeRun({ entries }: Run): string {
  const [first] = entries;
  const by = (first && hashOf(digestIn(first))) ?? blake3Hash;
  const lines = [headerOf(by.algorithm), ...entries.map((entry) => JSON.stringify(entry))];
  const hash = lines.reduce((before, line) => nextHash(by, before, line), "");
  return [...lines, JSON.stringify({ kind: "end", entries: entries.length, hash })].map((line) => `${line}\n`).join("");
}

const nextHash = (by: Hash, before: string, line: string): string => by.text(`${before}\n${line}`);

/** The digest that an entry has of its own; `undefined` for an answer, which has none. */
function digestIn(entry: RunEntry): string | undefined {
  switch (entry.kind) {
    case "call":
      return entry.toolHash;
    case "request":
      return entry.requestHash;
    case "reply":
      return undefined;
    case "outcome":
      return entry.outcomeHash;
  }
}

export type RunResult =
  | { readonly ok: true; readonly run: Run; readonly hash: string }
  /**
   * `line` is the first wrong line, from 1. It is the last line when only the digest over the
   * others shows that one of them changed.
   */
  | { readonly ok: false; readonly line: number; readonly reason: string };

/** The range of a `Date` from 1970, in both directions (ECMA-262, section 21.4.1.1). */
const MOST_MS = 8.64e15;

const text = { type: "string", maxLength: 1_000 } as const;
const digest = { type: "string", pattern: digestPattern } as const;
const upTo = (maximum: number) => ({ type: "integer", minimum: 0, maximum }) as const;
const count = upTo(1_000_000_000_000_000);
const entry = (kind: RunEntry["kind"], properties: JsonObject, optional: JsonObject = {}): JsonObject => ({
  type: "object",
  properties: { kind: { const: kind }, callId: text, ...properties, ...optional },
  required: ["kind", "callId", ...Object.keys(properties)],
  additionalProperties: false,
});

const validator = requireValidator(
  {
    oneOf: [
      entry(
        "call",
        {
          sessionId: text,
          tool: text,
          toolHash: digest,
          inputText: { type: "string" },
          outputKind: { enum: ["json", "text", "binary", "stream"] },
          outputBytes: count,
          seed: { type: "string", pattern: "^[0-9a-f]{64}$" },
          nowMs: { type: "number", minimum: -MOST_MS, maximum: MOST_MS },
          real: { type: "array", items: { enum: ["clock", "random"] } },
        },
        {
          attempt: { type: "integer", minimum: 2, maximum: 1_000 },
          packageHash: digest,
          hasBody: { type: "boolean" },
          fuel: upTo(ceilings.fuel),
          memoryBytes: upTo(ceilings.memoryBytes),
        },
      ),
      entry("request", { index: count, request: { type: "object" }, requestHash: digest }),
      entry("reply", { index: count, reply: { type: "object" }, body: { type: ["string", "null"] } }),
      entry("outcome", { outcome: text, result: { type: "object" }, outcomeHash: digest }),
    ],
  },
  { ...allParts, explain },
);

const endValidator = requireValidator(
  {
    type: "object",
    properties: { kind: { const: "end" }, entries: count, hash: digest },
    required: ["kind", "entries", "hash"],
    additionalProperties: false,
  },
  { ...allParts, explain },
);

/** Thrown and caught inside this file only. */
class RunFileRefusal extends Error {}

/**
 * Reads the lines of a run file, which are untrusted. Refuses an incomplete run with its line, and
 * executes nothing.
 *
 * @example
 * const read = await readRun(lines(file.stream(), RUN_LINE_BYTES));
 */
export async function readRun(lines: Iterable<string> | AsyncIterable<string>): Promise<RunResult> {
  const reader = new RunReader();
  try {
    for await (const line of lines) reader.add(line);
    return reader.end();
  } catch (error) {
    if (error instanceof RunFileRefusal) return { ok: false, line: reader.line, reason: error.message };
    if (error instanceof LineFault)
      return { ok: false, line: error.line, reason: `The line is unreadable: ${error.message}.` };
    return { ok: false, line: reader.line + 1, reason: "The reader could not read the file to its end." };
  }
}

class RunReader {
  line = 0;
  readonly #entries: RunEntry[] = [];
  /** Says the first line. */
  #by: Hash = blake3Hash;
  #hash = "";
  #hasEnded = false;

  add(content: string): void {
    this.line++;
    if (content === "" && this.#hasEnded) return; // behind the last line end
    if (this.#hasEnded) throw new RunFileRefusal("The file continues after the end of the run.");
    if (!content.isWellFormed()) throw new RunFileRefusal("It is not Unicode text.");
    const parsed = parseJson(content, lineLimits);
    if (!parsed.ok) throw new RunFileRefusal(`It is not JSON: ${parsed.error.message}.`);
    if (jsonTextFault(content, "any")) throw new RunFileRefusal("It names a member twice.");
    if (this.line === 1) {
      const by = hashIn(parsed.value);
      if (!by)
        throw new RunFileRefusal(`A run file begins with ${headerOf("blake3")}, or with another known algorithm.`);
      this.#by = by;
    } else if (isEnd(parsed.value)) return this.#end(parsed.value);
    else {
      const valid = validator.validateOwn(parsed.value);
      if (!valid.ok) throw new RunFileRefusal(`The line is not an entry of a run: ${present(valid.errors[0]).message}`);
      const entry = valid.value as RunEntry;
      const named = digestIn(entry);
      if (named !== undefined && hashOf(named) !== this.#by)
        throw new RunFileRefusal(`Its digest is in another algorithm than the run's, which is ${this.#by.algorithm}.`);
      this.#entries.push(entry);
    }
    this.#hash = nextHash(this.#by, this.#hash, content);
  }

  #end(value: JsonObject): void {
    const valid = endValidator.validateOwn(value);
    if (!valid.ok) throw new RunFileRefusal(`The line is not the end of a run: ${present(valid.errors[0]).message}`);
    if (value["entries"] !== this.#entries.length)
      throw new RunFileRefusal(
        `The run had ${JSON.stringify(value["entries"])} entries, ${this.#entries.length} are here.`,
      );
    if (value["hash"] !== this.#hash) throw new RunFileRefusal("A line before this end has changed.");
    this.#hasEnded = true;
  }

  end(): RunResult {
    if (this.line === 0) return { ok: false, line: 1, reason: "The file is empty." };
    if (!this.#hasEnded)
      return { ok: false, line: this.line + 1, reason: "The file is incomplete: its end is missing." };
    const run: Run = { entries: this.#entries };
    const fault = runFault(run);
    if (fault) return { ok: false, line: fault.seq + 2, reason: `Call ${fault.callId}: ${fault.reason}` };
    return { ok: true, run, hash: this.#hash };
  }
}

/** The algorithm that a header names; `undefined` for what is no header. */
function hashIn(value: JsonValue): Hash | undefined {
  const { format: name, v, algorithm } = isJsonObject(value) ? value : {};
  return name === format.format && v === format.v ? hashFor(algorithm) : undefined;
}

function isEnd(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && value["kind"] === "end";
}

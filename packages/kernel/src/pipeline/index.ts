import { plainMembers } from "../json/plain-members.ts";
import { hasOwn, present } from "../support/guards.ts";
import { childSpan } from "../id/trace.ts";
import type { CallOptions, Kernel } from "../kernel-api.ts";
import type { JsonValue } from "../json/json.ts";
import { snapshot } from "../json/snapshot.ts";
import type { CallFailure, CallResult } from "../result.ts";
import { allParts } from "../schema/all-parts.ts";
import { explain } from "../schema/explain/index.ts";
import { requireValidator } from "../schema/compile-own.ts";
import { filledIn, referencesIn } from "../json/references.ts";

/** One call of a pipeline. */
export interface PipelineStep {
  /** Lower-case letters, digits, `_` and `-`; other steps refer to it. */
  readonly id: string;
  readonly tool: string;
  readonly version?: string;
  /** May hold references, `{ "$from": "STEP#POINTER" }`, in the place of any value. */
  readonly input: JsonValue;
}

export interface StepResult {
  readonly id: string;
  readonly result: CallResult;
}

export type PipelineResult =
  | {
      readonly ok: true;
      /** Of the last step. */ readonly data: JsonValue | Uint8Array;
      readonly steps: readonly StepResult[];
      readonly traceparent: string;
    }
  /** Nothing ran: `path` points into the steps. */
  | {
      readonly ok: false;
      readonly kind: "invalid";
      readonly path: string;
      readonly message: string;
      readonly steps: readonly [];
    }
  /** A step failed, or could not be given its input (`error` is `undefined` then); later ones did not run. */
  | {
      readonly ok: false;
      readonly kind: "failed";
      readonly id: string;
      readonly path: string;
      readonly message: string;
      readonly error: CallFailure["error"] | undefined;
      readonly steps: readonly StepResult[];
      readonly traceparent: string;
    };

const maxSteps = 100;

const notPlain = "The options are not a plain object. Pass a literal that owns its members.";

const validator = requireValidator(
  {
    type: "array",
    minItems: 1,
    maxItems: maxSteps,
    items: {
      type: "object",
      properties: {
        id: { type: "string", pattern: "^[a-z][a-z0-9_-]{0,63}$" },
        tool: { type: "string", minLength: 1, maxLength: 64 },
        version: { type: "string", minLength: 1, maxLength: 256 },
        input: {},
      },
      required: ["id", "tool", "input"],
      additionalProperties: false,
    },
  },
  { ...allParts, explain },
);

/**
 * Makes calls one after the other, each with what earlier ones gave. The kernel checks all of it before the first call: form, tools, references, which go backwards
 * only. Every step is a call like any other, approvals included, in one session and under one span. The first failure ends it.
 *
 * @example
 * const done = await runPipeline(kernel, [
 *   { id: "read", tool: "read_file", input: { path: "notes/a.txt" } },
 *   { id: "sum", tool: "hash", input: { data: { $from: "read#/text" } } },
 * ]);
 */
export async function runPipeline(kernel: Kernel, steps: unknown, foreign: CallOptions = {}): Promise<PipelineResult> {
  const checked = readSteps(kernel, steps);
  if (hasOwn(checked, "message")) return { ok: false, kind: "invalid", ...checked, steps: [] };
  const own: CallOptions | undefined = plainMembers(foreign);
  if (!own) return { ok: false, kind: "invalid", path: "", message: notPlain, steps: [] };
  const { traceparent: parent, idempotencyKey: key, bounds, grants, ...options } = own;
  const traceparent = childSpan(parent);
  const narrowing = snapshot({ bounds, grants });
  // Without a session of the caller's, one of its own: the trace's name is as unique as any. Later steps need what earlier ones gave, not where it is.
  const shared = {
    sessionId: `pipeline ${traceparent.slice(3, 52)}`,
    ...options,
    // Each call refuses a value that is no data.
    ...(narrowing.ok ? (narrowing.value as Pick<CallOptions, "bounds" | "grants">) : ({ bounds, grants } as object)),
    traceparent,
    references: false,
  };
  const results: StepResult[] = [];
  const outputs = new Map<string, JsonValue>();
  let data: JsonValue | Uint8Array = null;
  for (const [place, { id, tool, version, input }] of checked.entries()) {
    const missing: string[] = [];
    const given = filledIn(input, outputs, (path) => missing.push(path));
    const failed = (path: string, message: string, error?: CallFailure["error"]): PipelineResult => {
      return { ok: false, kind: "failed", id, path, message, error, steps: results, traceparent };
    };
    if (missing.length > 0)
      return failed(`/${place}/input${missing[0]}`, "The referenced step returned no such value.");
    const result = await kernel.call(tool, given, {
      ...shared,
      ...(version !== undefined && { version }),
      ...(key !== undefined && { idempotencyKey: `${key}#${id}` }),
    });
    results.push({ id, result });
    if (!result.ok) return failed(`/${place}`, result.error.message, result.error);
    data = result.data;
    // Bytes cannot stand in an input.
    if (!(data instanceof Uint8Array)) outputs.set(id, data);
  }
  return { ok: true, data, steps: results, traceparent };
}

type StepsFault = { readonly path: string; readonly message: string };

function readSteps(kernel: Kernel, foreign: unknown): readonly PipelineStep[] | StepsFault {
  const plain = snapshot(foreign);
  if (!plain.ok)
    return { path: plain.error.path, message: `The steps are not plain JSON data: ${plain.error.message}.` };
  const valid = validator.validateOwn(plain.value);
  if (!valid.ok) {
    const { instancePath, message } = present(valid.errors[0]);
    return { path: instancePath, message };
  }
  const steps = valid.value as readonly PipelineStep[];
  const tools = new Set(kernel.list().map(({ manifest }) => manifest.name));
  const before = new Set<string>();
  for (const [place, { id, tool, input }] of steps.entries()) {
    if (before.has(id)) return { path: `/${place}/id`, message: `There are two steps ${id}.` };
    if (!tools.has(tool)) return { path: `/${place}/tool`, message: `There is no tool ${JSON.stringify(tool)}.` };
    for (const reference of referencesIn(input)) {
      const path = `/${place}/input${reference.path}`;
      if (hasOwn(reference, "fault")) return { path, message: `The value is not a reference: ${reference.fault}.` };
      if (!before.has(reference.source))
        return { path, message: `There is no step ${JSON.stringify(reference.source)} before this one.` };
    }
    before.add(id);
  }
  return steps;
}

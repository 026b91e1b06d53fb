import { hostOf, type IsolateHost } from "../isolate/port.ts";
import { limits } from "../limits.ts";
import { canonicalJson, canonicalTextOf } from "../normalize/canonical-json.ts";
import type { JsonObject, JsonValue } from "../normalize/json.ts";
import { snapshotInOrder } from "../normalize/snapshot.ts";
import type { ValidationError, Validator } from "../schema/index.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Registry } from "../tool/registry.ts";
import type { BoundName } from "../bounds/bounds.ts";
import { type Call, next, type Step, stop } from "./call.ts";

/** A call whose tool is known and can run here. */
export interface Resolved {
  readonly call: Call;
  readonly tool: RegisteredTool;
  readonly host: IsolateHost;
}

/** A call whose input is plain data that fits the tool's schema, with defaults filled in. */
export interface Validated extends Resolved {
  readonly input: JsonValue;
  /** Canonical. */
  readonly inputText: string;
  readonly inputHash: string;
  /** UTF-8 bytes of `inputText`. */
  readonly inputBytes: number;
}

/** Bounds that only some hosts can hold. A tool or a caller that sets one wants it held. */
const hostBounds = ["cpuMs", "memoryBytes", "fuel"] as const satisfies readonly BoundName[];

/** Step 1. */
export function resolve(call: Call, registry: Registry, hosts: readonly IsolateHost[]): Step<Resolved> {
  if (call.fault) {
    const { message, hint = "Correct it." } = call.fault;
    return stop("INVALID_INPUT", message, { hint });
  }
  const found = registry.resolve(call.toolName, call.options.version);
  if (!found.ok)
    return stop("TOOL_NOT_FOUND", found.message, { hint: found.hint, details: { nearest: found.nearest } });
  const { tool } = found;
  const { source, bounds, output } = tool.manifest;
  if (call.output && output.kind !== "stream")
    return stop("INVALID_INPUT", `${tool.id} gives ${output.kind}, which is in the result: \`output\` takes streams.`);
  const host = hostOf(tool, hosts);
  if (!host) {
    const hint = source !== "inline" ? "Give createKernel a host: browserHost(), edgeHost(), …" : "";
    return stop("UNSUPPORTED_HOST", `No host of this kernel runs tools of source ${source}.`, { hint });
  }
  const enforced = typeof host.enforces === "function" ? host.enforces(tool.manifest) : host.enforces;
  const missing = hostBounds.filter(
    (name) => (bounds[name] ?? call.options.bounds?.[name]) !== undefined && !enforced.includes(name),
  );
  if (missing.length > 0) {
    return stop(
      "UNSUPPORTED_HOST",
      `The host ${host.name} cannot enforce ${missing.join(", ")}, which ${tool.id} or its caller relies on.`,
      { details: { bounds: missing } },
    );
  }
  return next({ call, tool, host });
}

/** Step 2. */
export function validateInput(resolved: Resolved, foreign: unknown): Step<Validated> {
  const fault = bodyFault(resolved);
  if (fault !== undefined) return stop("INVALID_INPUT", fault);
  const plain = snapshotInOrder(foreign, { maxDepth: limits.depth, maxNodes: limits.nodes });
  if (!plain.ok) {
    return stop("INVALID_INPUT", `The input is not plain data: ${explanation(plain.error.message)}.`, {
      details: [{ path: explanation(plain.error.path), keyword: plain.error.reason }],
      hint: "Send JSON: objects, arrays, strings, finite numbers, booleans and null.",
    });
  }
  const schema = resolved.tool.input;
  const isWhole = conforms(schema, plain.value);
  const valid = isWhole ? plain : schema.validate(plain.value);
  if (!valid.ok) {
    const [first] = valid.errors;
    const hint = explanation(first!.hint ?? "");
    return stop("INVALID_INPUT", explanation(first!.message), { details: valid.errors.map(errorDetails), hint });
  }
  const input = valid.value as JsonValue;
  const inputText = isWhole ? canonicalTextOf(plain) : canonicalJson(input);
  const { hash: inputHash, byteLength } = resolved.call.hash.measure(inputText);
  if (byteLength > limits.inputBytes) {
    return stop("INVALID_INPUT", `The input is larger than ${limits.inputBytes} bytes.`, {
      hint: "Pass large data as a file.",
    });
  }
  return next({ ...resolved, input, inputText, inputHash, inputBytes: byteLength });
}

function bodyFault({ call, tool }: Resolved): string | undefined {
  if (!call.body)
    return tool.manifest.body && `${tool.id} takes a body: the option \`body\`, over HTTP application/octet-stream.`;
  if (!tool.manifest.body) return `${tool.id} takes no body.`;
  return call.options.idempotencyKey && "A key stands for equal arguments, and what a body holds nobody knows before.";
}

/** Whether a plain value can go on as it is: it fits, and nothing would be filled in. What does not is looked at by `validate`. */
export function conforms(schema: Validator, value: JsonValue | Uint8Array): boolean {
  return !schema.fills && schema.check(value);
}

export function errorDetails({
  instancePath,
  schemaPath,
  keyword,
  expected,
  received,
  message,
  hint,
}: ValidationError): JsonObject {
  return {
    path: explanation(instancePath),
    schemaPath: explanation(schemaPath),
    keyword,
    expected: explanation(expected),
    received: explanation(received),
    message: explanation(message),
    hint: hint === undefined ? null : explanation(hint),
  };
}

/** Cut, and well-formed, so that it can go into a canonical log. */
export function explanation(text: string): string {
  return text.length <= limits.explanationLength
    ? text
    : `${text.slice(0, limits.explanationLength - 1).toWellFormed()}…`;
}

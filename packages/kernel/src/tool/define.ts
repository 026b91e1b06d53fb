import type { Ask } from "../capability/ask.ts";
import type { Need } from "../capability/capability.ts";
import type { ToolDatabase } from "../capability/families/db.ts";
import type { ToolFiles } from "../capability/families/fs.ts";
import type { ToolKeys } from "../capability/families/kv.ts";
import type { ToolFetch } from "../capability/families/net.ts";
import type { ToolSpawn } from "../capability/families/process-spawn.ts";
import type { ToolCalls } from "../capability/families/tool-call.ts";
import type { Infer, InferGiven, InferOutput, OutputSource, SchemaSource, StandardJsonSchema } from "./infer.ts";
import type { ToolManifest } from "./manifest.ts";
import type { LogEntry, Progress } from "./report.ts";

/** The data that a call passes to another program. */
export interface Onward {
  readonly caller: string;
  /** W3C Trace Context of the call's own span. */
  readonly traceparent: string;
  /** The caller's: other callers can have the same one. */
  readonly idempotencyKey?: string;
  /** The remaining time of the run at its beginning. */
  readonly timeoutMs: number;
}

/** The context of a tool. Each of its requests passes the kernel. */
export interface ToolContext {
  readonly callId: string;
  readonly sessionId: string;
  /** Aborts when the caller cancels. A tool that ignores it is killed after the grace period. */
  readonly signal: AbortSignal;
  /** Like the platform's `fetch`, under the grants `net.read` and `net.write`. A refusal rejects with a {@link CapabilityRefused}. */
  readonly fetch: ToolFetch;
  /** Files under the grants `fs.read` and `fs.write`; paths are relative, `/`-separated. */
  readonly files: ToolFiles;
  /** A database under the grants `db.read` and `db.write`: prepared statements only, one per request. */
  readonly db: (name: string) => ToolDatabase;
  /** Values by key, under the grants `kv.read` and `kv.write`. */
  readonly kv: ToolKeys;
  /**
   * Runs a command under the grant `process.spawn`, without a shell: each argument arrives as it
   * is. The tool judges the exit code.
   */
  readonly spawn: ToolSpawn;
  /**
   * Other tools, under the grant `tool.call`. A nested call passes every check, approvals included,
   * for the same caller and session. It ends with this call at the latest. The answer contains a
   * failure of the called tool. A forbidden call rejects with a {@link CapabilityRefused}.
   */
  readonly tools: ToolCalls;
  /**
   * A stand-in for a secret, for headers, query or body of `fetch`. On the way out it is replaced, for hosts that the grant `secret.use` names; it means
   * nothing anywhere else, and nothing after this call.
   *
   * @example
   * await fetch(url, { headers: { authorization: `Bearer ${secret("api_key")}` } });
   */
  readonly secret: (name: string) => string;
  /** Makes a request of any kind, for the guest's half of a family. Rejects with a {@link CapabilityRefused}. */
  readonly request: Ask;
  /** Milliseconds since the epoch: the call's start, unless `clock` is granted. */
  readonly now: () => number;
  /** In [0, 1): from the call's seed, unless `random` is granted. */
  readonly random: () => number;
  /**
   * The caller's stream of bytes, for a tool whose manifest has a `body`. Read it once, with
   * `for await`; the kernel takes only the read part from the caller. A `ReadableStream` where the
   * realm has one, so not in the interpreter. Rejects when the caller's stream fails, and then the
   * call fails.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Only in tools that run in the kernel's own realm, for those that call another program. */
  readonly onward?: Onward;
  /**
   * Charges bytes to each access in `needs`, before the tool uses them. With `isRequest` they are one more request: the kernel decides about it anew, and records it.
   * `false`: the call has ended, or ends now with the refusal. The kernel charges only the rest of the output. Only in tools that run in the kernel's own realm.
   */
  readonly charge?: (bytes: number, isRequest?: boolean) => boolean;
  readonly log: (message: string, level?: LogEntry["level"]) => void;
  readonly progress: (progress: Progress) => void;
}

/** How a refused or failed capability request looks inside a tool: an `Error` with the broker's code. */
export interface CapabilityRefused extends Error {
  readonly code: string;
  readonly hint: string;
}

/** The functions of a tool. All of them run inside its isolate. */
export interface ToolCode<Input, Output> {
  /** Once per isolate, before its first call. Has no capabilities. */
  readonly setup?: () => void | Promise<void>;
  /** Beyond the schema: returns a sentence to refuse the input. Has no capabilities. */
  readonly check?: (input: Input) => string | undefined | Promise<string | undefined>;
  /** For `kernel.health`: returns a sentence when the tool is not well. After `setup`, without capabilities. */
  readonly health?: () => string | undefined | Promise<string | undefined>;
  readonly execute: (input: Input, context: ToolContext) => Output | Promise<Output>;
  /**
   * The accesses that each call makes by itself, without a request of its context. The kernel decides about them as about requests, before the approver is asked and at
   * the start, and records them. Each uses up one request of its grant, and the bytes of input and output. Only for `registerTrusted`. Default: none.
   */
  readonly needs?: readonly Need[];
}

/**
 * The definition by an author. `effects`, `capabilities`, `bounds` default to none, `determinism`
 * to `pure`, `tier` to 0.
 */
export type ToolDefinition<Input extends SchemaSource, Output extends OutputSource> = Partial<
  Omit<ToolManifest, "name" | "version" | "description" | "input" | "output" | "source">
> &
  Pick<ToolManifest, "name" | "version" | "description"> & {
    readonly input: Input;
    readonly output: Output;
  } & ToolCode<Infer<Input>, InferOutput<Output>>;

/** A defined tool: its manifest and its code, still in one realm. */
export interface Tool<Input = unknown, Output = unknown, Given = unknown> {
  readonly definition: Omit<ToolDefinition<SchemaSource, OutputSource>, keyof ToolCode<never, never>>;
  readonly code: ToolCode<Input, Output>;
  /** Only for the compiler: the input before defaults. */
  readonly [given]?: Given;
}

declare const given: unique symbol;

/**
 * Defines a tool. Types of `execute` come from the schemas; nothing is checked before the tool is registered or packed.
 *
 * @example
 * const greet = defineTool({
 *   name: "greet",
 *   version: "1.0.0",
 *   description: "Greets a person by name.",
 *   input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
 *   output: { kind: "text" },
 *   execute: ({ name }) => `Hello, ${name}!`,
 * });
 */
export function defineTool<const Input extends SchemaSource, const Output extends OutputSource>(
  definition: ToolDefinition<Input, Output>,
): Tool<Infer<Input>, InferOutput<Output>, InferGiven<Input>> {
  const { setup, check: own, health, needs, execute, ...rest } = definition;
  const check = withChecksOf(rest.input, own);
  return {
    definition: rest,
    code: {
      execute,
      ...(setup && { setup }),
      ...(check && { check }),
      ...(health && { health }),
      ...(needs && { needs }),
    },
  };
}

/** A manifest has no part of a schema that JSON Schema cannot say, such as a refinement: that runs with the tool, before the tool's own check. */
function withChecksOf<Input extends SchemaSource>(
  input: Input,
  own: ToolCode<Infer<Input>, never>["check"],
): typeof own {
  const standard = (input as Partial<StandardJsonSchema> | undefined)?.["~standard"];
  if (!standard?.validate) return own;
  return async (value) => {
    const [issue] = (await standard.validate?.(value))?.issues ?? [];
    return issue ? issue.message : own?.(value);
  };
}

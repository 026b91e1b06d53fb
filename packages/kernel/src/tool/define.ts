import type { LogEntry, Progress } from "../isolate/port.ts";
import type { Infer, InferGiven, InferOutput, OutputSource, SchemaSource } from "./infer.ts";
import type { ToolManifest } from "./manifest.ts";

/** What a tool sees of the world. Everything in it goes through the kernel, request by request. */
export interface ToolContext {
  readonly callId: string;
  readonly sessionId: string;
  /** Aborts when the caller cancels. A tool that ignores it is killed after the grace period. */
  readonly signal: AbortSignal;
  /** Like the platform's `fetch`, under the grants `net.read` and `net.write`. A refusal rejects with a {@link CapabilityRefused}. */
  readonly fetch: (url: string | URL, init?: ToolRequestInit) => Promise<Response>;
  /** Files under the grants `fs.read` and `fs.write`; paths are relative, `/`-separated. */
  readonly files: ToolFiles;
  /** Milliseconds since the epoch: the call's start, unless `clock` is granted. */
  readonly now: () => number;
  /** In [0, 1): from the call's seed, unless `random` is granted. */
  readonly random: () => number;
  readonly log: (message: string, level?: LogEntry["level"]) => void;
  readonly progress: (progress: Progress) => void;
}

export interface ToolRequestInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  readonly body?: string | Uint8Array;
}

export interface ToolFiles {
  readonly read: (path: string) => Promise<Uint8Array>;
  readonly write: (path: string, data: Uint8Array | string) => Promise<void>;
  readonly list: (path: string) => Promise<readonly FileEntry[]>;
  readonly stat: (path: string) => Promise<FileEntry>;
  readonly remove: (path: string) => Promise<void>;
}

export interface FileEntry {
  readonly name: string;
  readonly kind: "file" | "directory";
  /** 0 for a directory. */
  readonly byteLength: number;
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
  readonly execute: (input: Input, context: ToolContext) => Output | Promise<Output>;
}

/** What an author writes. `effects`, `capabilities`, `bounds` default to none, `determinism` to `pure`, `tier` to 0. */
export type ToolDefinition<Input extends SchemaSource, Output extends OutputSource> = Partial<
  Omit<ToolManifest, "name" | "version" | "description" | "input" | "output" | "source">
> &
  Pick<ToolManifest, "name" | "version" | "description"> & {
    readonly input: Input;
    readonly output: Output;
  } & ToolCode<Infer<Input>, InferOutput<Output>>;

/** A defined tool: what it says about itself and what it does, still in one realm. */
export interface Tool<Input = unknown, Output = unknown, Given = unknown> {
  readonly definition: Omit<ToolDefinition<SchemaSource, OutputSource>, keyof ToolCode<never, never>>;
  readonly code: ToolCode<Input, Output>;
  /** Only for the compiler: what a caller sends, before defaults are filled in. */
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
 *   description: "Greets somebody by name.",
 *   input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
 *   output: { kind: "text" },
 *   execute: ({ name }) => `Hello, ${name}!`,
 * });
 */
export function defineTool<const Input extends SchemaSource, const Output extends OutputSource>(
  definition: ToolDefinition<Input, Output>,
): Tool<Infer<Input>, InferOutput<Output>, InferGiven<Input>> {
  const { setup, check, execute, ...rest } = definition;
  return {
    definition: rest,
    code: { execute, ...(setup && { setup }), ...(check && { check }) },
  };
}

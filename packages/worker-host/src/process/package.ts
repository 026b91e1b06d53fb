import {
  blake3Hash,
  type InferGiven,
  type InferOutput,
  manifestOf,
  type OutputSource,
  packageHash,
  type SchemaSource,
  type ToolDefinition,
  type ToolManifest,
  type ToolPackage,
} from "@keyhole/kernel";

/** The definition of a command by its author: a {@link ToolDefinition} without functions. */
export type ProcessDefinition<Input extends SchemaSource, Output extends OutputSource> = Omit<
  ToolDefinition<Input, Output>,
  "setup" | "check" | "health" | "execute" | "program" | "wasm"
> &
  Required<Pick<ToolManifest, "process">>;

/**
 * Makes a tool of a command of the host. The command gets the input on stdin as JSON, and its
 * stdout is the output. Its stderr goes to the log, and another exit code than 0 is a `TOOL_ERROR`.
 * Effects, capability and determinism are those of a program, unless the definition says otherwise.
 *
 * A host runs it where its `commands` name it and policy grants `process.spawn` for it. A WASI command is in an isolate, under fuel; a program of Node's system is in none, and has all
 * rights of the host's user.
 *
 * @example
 * const sort = processPackage({
 *   name: "sort_lines",
 *   version: "1.0.0",
 *   description: "Sorts.",
 *   process: { command: "sort" },
 *   input: { type: "object" },
 *   output: { kind: "text" },
 * });
 */
export function processPackage<const Input extends SchemaSource, const Output extends OutputSource>(
  definition: ProcessDefinition<Input, Output>,
): ToolPackage<InferGiven<Input>, InferOutput<Output>> {
  const { command, args = [] } = definition.process;
  const whole = {
    effects: ["process.spawn"] as const,
    capabilities: [{ kind: "process.spawn", commands: [{ command, args }] }] as const,
    determinism: "external" as const,
    tier: 3 as const,
    ...definition,
  };
  const manifest = manifestOf({ definition: whole, code: { execute } }, "process");
  return { manifest, code: "", hash: packageHash(manifest, null, blake3Hash) ?? "" };
}

/** Never called: the program is the code. */
function execute(): never {
  throw new TypeError("a program has no function of JavaScript");
}

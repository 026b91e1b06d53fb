import {
  blake3Hash,
  checkPackage,
  type InferGiven,
  type InferOutput,
  manifestOf,
  type OutputSource,
  packageHash,
  type SchemaSource,
  type Setup,
  type SetupError,
  type ToolDefinition,
  type ToolManifest,
  type ToolPackage,
} from "@keyhole/kernel";
import { prepare } from "./prepare.ts";

/** The author's description of a module: a {@link ToolDefinition} without functions, because the module is the code. */
export type WasmDefinition<Input extends SchemaSource, Output extends OutputSource> = Omit<
  ToolDefinition<Input, Output>,
  "setup" | "check" | "health" | "execute" | "program"
> &
  Pick<ToolManifest, "wasm"> & {
    /** The JSON Schema of a manifest in a file, for editors. The package is without it. */
    readonly $schema?: string;
  };

/**
 * Packs a WebAssembly module as a tool: a WASI command, or a module that exports `alloc` and `run`. It is checked as it will be when it is registered: its manifest,
 * what it imports, and whether it can be metered.
 *
 * @example
 * const words = wasmPackage(
 *   { name: "words", version: "1.0.0", description: "Counts words.", input: { type: "object" }, output: { kind: "json" } },
 *   bytes,
 * );
 * if (words.ok) kernel.register(words.value);
 */
export function wasmPackage<const Input extends SchemaSource, const Output extends OutputSource>(
  definition: WasmDefinition<Input, Output>,
  bytes: Uint8Array,
): Setup<ToolPackage<InferGiven<Input>, InferOutput<Output>>> {
  const missing = required.filter((name) => !Object.hasOwn(definition, name));
  if (missing.length > 0) return refused(`The manifest lacks ${missing.join(", ")}.`);
  const code = new Uint8Array(bytes);
  const { $schema: _, ...own } = definition;
  const manifest = manifestOf({ definition: own, code: { execute } }, "wasm");
  const packed = { manifest, code, hash: packageHash(manifest, code, blake3Hash) ?? "" };
  const checked = checkPackage(packed);
  if (!checked.ok) return checked;
  const prepared = prepare(code, manifest.bounds.memoryBytes);
  return prepared.ok ? { ok: true, value: packed } : prepared;
}

/** The fields that the author alone can give. A definition from a file can lack them. */
const required = ["name", "version", "description", "input", "output"];

function refused(message: string): { readonly ok: false; readonly error: SetupError } {
  return { ok: false, error: { code: "INVALID_MANIFEST", path: "", message, hint: "" } };
}

/** Never called: the module is the code. */
function execute(): never {
  throw new TypeError("a module has no function of JavaScript");
}

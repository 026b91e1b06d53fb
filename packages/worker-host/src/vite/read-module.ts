import { readFile } from "node:fs/promises";
import { checkPackage, type SetupError, type ToolPackage } from "@keyhole/kernel";
import { type WasmDefinition, wasmPackage } from "../wasm/tool/package.ts";

export interface ReadModule {
  /** With its code as base64, so that it is JSON. */
  readonly package: ToolPackage;
  readonly files: readonly string[];
}

/** The manifest that stands beside a module: `hello.json` beside `hello.wasm`. */
export function manifestFileOf(file: string): string {
  return file.replace(/\.wasm$/, ".json");
}

/**
 * Makes a package of a WebAssembly module and the manifest beside it, as registration would check it.
 *
 * @throws Error with a readable reason
 */
export async function readModule(file: string): Promise<ReadModule> {
  const manifestFile = manifestFileOf(file);
  const [bytes, text] = await Promise.all([readFile(file), readFile(manifestFile, "utf8")]);
  const packed = wasmPackage(readDefinition(text), bytes);
  if (!packed.ok) throw new Error(faultOf(packed.error));
  const checked = checkPackage(packed.value);
  if (!checked.ok) throw new Error(faultOf(checked.error));
  const { manifest, hash } = packed.value;
  return { package: { manifest, code: bytes.toString("base64"), hash }, files: [file, manifestFile] };
}

/** Whether what it says is right is for `wasmPackage` and the kernel to say; here whether it says what nobody can say for it. */
function readDefinition(text: string): WasmDefinition<Record<string, unknown>, { kind: "json" }> {
  const definition: unknown = JSON.parse(text);
  const missing = required.filter((name) => typeof definition !== "object" || !Object.hasOwn(definition ?? {}, name));
  if (missing.length > 0) throw new Error(`The manifest lacks ${missing.join(", ")}.`);
  return definition as WasmDefinition<Record<string, unknown>, { kind: "json" }>;
}

const required = ["name", "version", "description", "input", "output"];

function faultOf({ path, message, hint }: SetupError): string {
  return [path, message, hint].filter((part) => part !== "").join(" ");
}

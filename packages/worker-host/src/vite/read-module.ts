import { readFile } from "node:fs/promises";
import type { JsonObject, SetupError, ToolPackage } from "@keyhole/kernel";
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
  const definition: unknown = JSON.parse(text);
  if (typeof definition !== "object" || definition === null) throw new Error("The manifest is no JSON object.");
  // Whether it is one is for the package to say.
  const packed = wasmPackage(definition as WasmDefinition<JsonObject, { kind: "json" }>, bytes);
  if (!packed.ok) throw new Error(faultOf(packed.error));
  const { manifest, hash } = packed.value;
  return { package: { manifest, code: bytes.toString("base64"), hash }, files: [file, manifestFile] };
}

function faultOf({ path, message, hint }: SetupError): string {
  return [path, message, hint].filter((part) => part !== "").join(" ");
}

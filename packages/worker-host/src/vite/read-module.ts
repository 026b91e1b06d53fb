import { readFile } from "node:fs/promises";
import type { ToolPackage } from "@keyhole/kernel";
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
  // Whether it is a manifest is for `wasmPackage` and the kernel to say.
  const packed = wasmPackage(JSON.parse(text) as WasmDefinition<Record<string, unknown>, { kind: "json" }>, bytes);
  if (!packed.ok) throw new Error([packed.error.message, packed.error.hint].join(" ").trim());
  const { manifest, hash } = packed.value;
  return { package: { manifest, code: bytes.toString("base64"), hash }, files: [file, manifestFile] };
}

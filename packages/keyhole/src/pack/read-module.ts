import type { JsonObject, SetupError, ToolPackage } from "@keyhole/kernel";
import { encodeBase64 } from "@keyhole/kernel/foreign";
import { type WasmDefinition, wasmPackage } from "@keyhole/worker-host/wasm/modules";
import { baseOf, type PackFiles } from "./files.ts";

/** The manifest that stands beside a module: `hello.json` beside `hello.wasm`. */
function manifestFileOf(file: string): string {
  return file.replace(/\.wasm$/, ".json");
}

/**
 * Makes a package of a WebAssembly module and the manifest beside it, as registration would check it. Its code is base64, so that the package is JSON.
 *
 * @throws Error with a readable reason
 */
export function readModule(file: string, files: PackFiles): ToolPackage {
  const bytes = read(file, files);
  const definition: unknown = JSON.parse(new TextDecoder().decode(read(manifestFileOf(file), files)));
  if (typeof definition !== "object" || definition === null) throw new Error("The manifest is not a JSON object.");
  // Whether it is one is for the package to say.
  const packed = wasmPackage(definition as WasmDefinition<JsonObject, { kind: "json" }>, bytes);
  if (!packed.ok) throw new Error(faultOf(packed.error));
  const { manifest, hash } = packed.value;
  return { manifest, code: encodeBase64(bytes), hash };
}

function read(path: string, files: PackFiles): Uint8Array {
  const bytes = files.read(path);
  if (bytes === undefined) throw new Error(`There is no file ${baseOf(path)}.`);
  return bytes;
}

function faultOf({ path, message, hint }: SetupError): string {
  return [path, message, hint].filter((part) => part !== "").join(" ");
}

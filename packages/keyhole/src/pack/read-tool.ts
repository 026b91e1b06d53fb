import { blake3Hash, checkPackage, packageHash, type ToolManifest, type ToolPackage } from "@keyhole/kernel";
import { type Engine, readManifest } from "@keyhole/worker-host/wasm/interpreter";

/**
 * Makes a package of a tool's bundled code. The code runs in an interpreter without any capability, and not in this process: what it says of itself is read as foreign data,
 * and checked as registration checks it.
 *
 * @throws Error with a readable reason
 */
export async function readTool(code: string, engine: Engine): Promise<ToolPackage> {
  const reading = await readManifest(engine, code);
  if (!reading.ok) throw new Error(reading.reason);
  // The check names its kind.
  const manifest = reading.manifest as unknown as ToolManifest;
  const checked = checkPackage({ manifest, code, hash: packageHash(manifest, code, blake3Hash) ?? "" });
  if (checked.ok) return { manifest: checked.value.manifest, code, hash: checked.value.hash };
  const { path, message, hint } = checked.error;
  const place = path === "" || message.startsWith(path) ? "" : ` at "${path}"`;
  throw new Error([`its manifest is refused${place}: ${message}`, hint].join(" ").trim());
}

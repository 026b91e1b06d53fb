/** Runs in a worker thread of the build: loads one packed tool and says its manifest. */
import { parentPort, workerData } from "node:worker_threads";
import { checkPackage, manifestOf, packageHash, type Tool, type ToolManifest } from "@keyhole/kernel";

export type Reading =
  | { readonly ok: true; readonly manifest: ToolManifest; readonly hash: string }
  | { readonly ok: false; readonly reason: string };

async function read(code: string): Promise<Reading> {
  let module: { readonly default?: unknown };
  try {
    module = (await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`)) as typeof module;
  } catch (error) {
    return { ok: false, reason: `it throws when it is loaded: ${String(error)}` };
  }
  const tool = module.default;
  if (!isTool(tool))
    return { ok: false, reason: "its default export is not a tool; it should be the result of defineTool" };
  try {
    const manifest = manifestOf(tool, "module");
    const checked = checkPackage({ manifest, code, hash: packageHash(manifest, code) ?? "" });
    if (checked.ok) return { ok: true, manifest: checked.value.manifest, hash: checked.value.hash };
    const { path, message, hint } = checked.error;
    return { ok: false, reason: [`its manifest is refused at "${path}": ${message}`, hint].join(" ").trim() };
  } catch (error) {
    return { ok: false, reason: `its manifest cannot be read: ${String(error)}` };
  }
}

function isTool(value: unknown): value is Tool<never, unknown> {
  if (typeof value !== "object" || value === null || !("definition" in value) || !("code" in value)) return false;
  const { definition, code } = value;
  if (typeof definition !== "object" || definition === null || typeof code !== "object" || code === null) return false;
  const output = "output" in definition ? definition.output : undefined;
  const input = "input" in definition ? definition.input : undefined;
  return isObject(input) && isObject(output) && "execute" in code && typeof code.execute === "function";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

// The text of the tool, from the plugin.
parentPort?.postMessage(await read(String(workerData)));

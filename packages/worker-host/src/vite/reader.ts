/** Bundled with the kernel, this is a worker thread of the build: it loads one packed tool and says its manifest. */
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
  const tool = toolOf(module.default);
  if (typeof tool === "string") return { ok: false, reason: tool };
  try {
    const manifest = manifestOf(tool, "module");
    const checked = checkPackage({ manifest, code, hash: packageHash(manifest, code) ?? "" });
    if (checked.ok) return { ok: true, manifest: checked.value.manifest, hash: checked.value.hash };
    const { path, message, hint } = checked.error;
    const place = path === "" || message.startsWith(path) ? "" : ` at "${path}"`;
    return { ok: false, reason: [`its manifest is refused${place}: ${message}`, hint].join(" ").trim() };
  } catch (error) {
    return { ok: false, reason: `its manifest cannot be read: ${String(error)}` };
  }
}

/** The tool, or what keeps a default export from being one. */
function toolOf(value: unknown): Tool<never, unknown> | string {
  const definition = isObject(value) && "definition" in value ? value.definition : undefined;
  const code = isObject(value) && "code" in value ? value.code : undefined;
  if (!isObject(definition) || !isObject(code))
    return "its default export is not a tool; it should be the result of defineTool";
  if (!("input" in definition) || !isObject(definition.input)) return lacking("input");
  if (!("output" in definition) || !isObject(definition.output)) return lacking("output");
  if (!("execute" in code) || typeof code.execute !== "function") return lacking("execute");
  return value as Tool<never, unknown>;
}

const lacking = (member: "input" | "output" | "execute"): string =>
  `its tool has no \`${member}\`, which defineTool asks for`;

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Where this module is. The plugin imports it for this name, and bundles it for the thread. */
export const readerUrl: string = import.meta.url;

/** What the plugin gives its thread; in any other thread this module does nothing. */
export interface ReaderData {
  readonly keyholeTool: string;
}

function isReaderData(data: unknown): data is ReaderData {
  return isObject(data) && "keyholeTool" in data && typeof data.keyholeTool === "string";
}

if (parentPort && isReaderData(workerData)) parentPort.postMessage(await read(workerData.keyholeTool));

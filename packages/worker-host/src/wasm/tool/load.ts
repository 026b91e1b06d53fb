import { IsolateFailure, type IsolateHost, type RegisteredTool } from "@keyhole/kernel";
import type { LoadedModule } from "../../protocol/message.ts";
import { defaultMemoryBytes, prepareTool } from "./prepare.ts";

/** The bytes that a host may compile. @throws IsolateFailure */
export function meteredCode(tool: RegisteredTool): Uint8Array<ArrayBuffer> {
  if (tool.body.source !== "wasm")
    throw new IsolateFailure("UNSUPPORTED_HOST", `This host runs WebAssembly, and ${tool.id} is ${tool.body.source}.`);
  const prepared = prepareTool(tool);
  if (prepared.ok) return prepared.bytes;
  throw new IsolateFailure("TOOL_ERROR", prepared.error.message, { operatorHint: prepared.error.hint });
}

/** For {@link IsolateHost.check}: a module that could not be metered is refused when it is registered. */
export function faultOf(tool: RegisteredTool): ReturnType<NonNullable<IsolateHost["check"]>> {
  if (tool.body.source !== "wasm") return undefined;
  const prepared = prepareTool(tool);
  return prepared.ok ? undefined : prepared.error;
}

/** The data that a relay gets. */
export function loadedModule({ manifest }: RegisteredTool, module: LoadedModule["module"]): LoadedModule {
  const { args = [], environment = {} } = manifest.wasm ?? {};
  return {
    module,
    args: [manifest.name, ...args],
    environment,
    memoryBytes: manifest.bounds.memoryBytes ?? defaultMemoryBytes,
  };
}

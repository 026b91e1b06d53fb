import type { ImportName } from "../meter/options.ts";
import { waitingNames, wasiModule, wasiNames } from "../wasi/names.ts";

export const callImport = { module: "keyhole", name: "call" } as const;

/** Whether a module can have the import. */
export function isSupportedImport({ module, name, kind }: ImportName): boolean {
  if (kind !== "function") return false;
  return module === wasiModule ? wasiNames.has(name) : module === callImport.module && name === callImport.name;
}

/** Whether it may have to wait for an answer. */
export function mayWait(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.imports(module).some(
    ({ module: from, name }) => from === callImport.module || waitingNames.has(name),
  );
}

import type { ToolPackage } from "@keyhole/kernel";
import type { BundleKind } from "../pack/bundle.ts";
import type { Inputs } from "../pack/inputs.ts";
import { packageModule, textModule } from "../pack/module-text.ts";
import { forward, nodePacker } from "../node/packer.ts";

/** The module for an import of `keyhole:`, and what it is made of. */
export interface BuiltImport extends Inputs {
  readonly module: string;
  readonly package?: ToolPackage;
}

/** @throws BundleError with a readable reason */
export async function buildImport(file: string, kind: BundleKind): Promise<BuiltImport> {
  if (kind === "tool") {
    const packed = await nodePacker.pack(forward(file));
    return { ...packed, module: packageModule(packed.package) };
  }
  const { code, ...inputs } = await nodePacker.bundle(forward(file), kind);
  return { ...inputs, module: textModule(code) };
}

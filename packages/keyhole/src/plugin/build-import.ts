import type { ToolPackage } from "@keyhole/kernel";
import type { BundleKind } from "../pack/bundle.ts";
import { packageModule, textModule } from "../pack/module-text.ts";
import { forward, nodePacker } from "../node/packer.ts";

/** The module for an import of `keyhole:`, and its source files. */
export interface BuiltImport {
  readonly module: string;
  readonly files: readonly string[];
  readonly package?: ToolPackage;
}

/** @throws BundleError with a readable reason */
export async function buildImport(file: string, kind: BundleKind): Promise<BuiltImport> {
  if (kind === "tool") {
    const { package: pkg, files } = await nodePacker.pack(forward(file));
    return { module: packageModule(pkg), files, package: pkg };
  }
  const { code, files } = await nodePacker.bundle(forward(file), kind);
  return { module: textModule(code), files };
}

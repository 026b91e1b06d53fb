import { basename } from "node:path";
import type { ToolPackage } from "@keyhole/kernel";
import type { Rolldown } from "vite";
import { BundleError, bundle } from "./bundle.ts";
import { manifestFileOf, readModule } from "./read-module.ts";
import { readTool } from "./read-tool.ts";
import {
  idPattern,
  isBundleKind,
  listPattern,
  listText,
  partsOf,
  resolveSpecifier,
  specifierPattern,
} from "./specifier.ts";

/** What an import becomes, and the files that it was made of. */
export interface Built {
  readonly module: string;
  readonly files: readonly string[];
  readonly package?: ToolPackage;
}

/** @param around the bundles in which this one is wanted, outermost first: a shell may carry another bundle, and none carries itself. */
export async function build(id: string, around: readonly string[]): Promise<Built> {
  const { file, kind } = partsOf(id);
  if (!isBundleKind(kind)) throw new BundleError(`it cannot be bundled as ${kind}`, [file]);
  if (kind === "tool" && file.endsWith(".wasm")) {
    const read = await readModule(file).catch((error: unknown) => {
      throw new BundleError(error instanceof Error ? error.message : String(error), [file, manifestFileOf(file)]);
    });
    return { module: packageText(read.package), files: read.files, package: read.package };
  }
  const { code, modules } = await bundle(file, kind, [nestedBundles([...around, id])]);
  if (kind !== "tool") return { module: `export default ${JSON.stringify(code)};`, files: modules };
  const read = await readTool(code);
  if (!read.ok) throw new BundleError(read.reason, modules);
  return { module: packageText(read.package), files: modules, package: read.package };
}

/** From text: a literal would take a key such as `__proto__` for a prototype, and parses slower. */
function packageText(pkg: ToolPackage): string {
  return `export default /* @__PURE__ */ JSON.parse(${JSON.stringify(JSON.stringify(pkg))});`;
}

/** In the module itself, so that they are there wherever it runs. */
export function bytesText(bytes: Buffer): string {
  return `export default Uint8Array.from(atob(${JSON.stringify(bytes.toString("base64"))}), (unit) => unit.charCodeAt(0));`;
}

function nestedBundles(around: readonly string[]): Rolldown.Plugin {
  return {
    name: "keyhole:nested",
    resolveId(source, importer) {
      return specifierPattern.test(source) ? resolveSpecifier(this, source, importer) : null;
    },
    async load(id) {
      if (listPattern.test(id)) return { code: listText(id), moduleType: "js" };
      if (!idPattern.test(id)) return null;
      if (around.includes(id)) throw new Error(`${basename(partsOf(id).file)} would have to contain itself`);
      const { module, files } = await build(id, around);
      for (const file of files) this.addWatchFile(file);
      return { code: module, moduleType: "js" };
    },
  };
}

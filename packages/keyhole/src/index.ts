export { BundleError } from "./pack/bundle.ts";
export { packTool } from "./node/packer.ts";
export type { PackedTool } from "./pack/packer.ts";

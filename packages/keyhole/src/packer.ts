/** `keyhole/packer`: the packer for any place, on files and with an esbuild that are given to it. */
export { type Bundle, BundleError, type Bundler, type BundleKind, type Esbuild } from "./pack/bundle.ts";
export { mapFiles, type PackFiles } from "./pack/files.ts";
export { type PackedTool, Packer, type PackerOptions } from "./pack/packer.ts";

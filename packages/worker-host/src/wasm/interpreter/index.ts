/** The interpreter without the means to meter it, for places where that was done by the build. */
export { builtEngine, type Engine } from "./engine.ts";
export { interpreterHost, type InterpreterOptions } from "./host.ts";
export { type ManifestReading, readManifest } from "./read-manifest.ts";

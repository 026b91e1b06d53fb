// The Vite plugin of this repository, for its own configuration files. Vite bundles a configuration file and would take
// our packages from `dist`, which does not exist in a fresh checkout; here Node loads their sources.
import "./source.mjs";

const source = new URL("../packages/keyhole/src/vite/index.ts", import.meta.url);

/** @type {typeof import("../packages/keyhole/src/vite/index.ts")} */
const plugin = await import(/* @vite-ignore */ source.href);

export const keyhole = plugin.keyhole;

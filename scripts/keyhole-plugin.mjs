// The Vite plugin of this repository, for its own configuration files. Vite bundles a configuration file and would take
// our packages from `dist`, which does not exist in a fresh checkout; here Node loads their sources.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (!specifier.startsWith("@keyhole/")) return nextResolve(specifier, context);
    return nextResolve(specifier, { ...context, conditions: [...context.conditions, "keyhole-source"] });
  },
});

const source = new URL("../packages/worker-host/src/vite/index.ts", import.meta.url);

/** @type {typeof import("../packages/worker-host/src/vite/index.ts")} */
const plugin = await import(/* @vite-ignore */ source.href);

export const keyhole = plugin.keyhole;

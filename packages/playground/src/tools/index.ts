import type { ToolPackage } from "@keyhole/kernel";
// A file beside this one is a tool of the page, and so is a module in a folder, with its manifest.
import scripts from "keyhole:./*.ts?all";
import modules from "keyhole:./*/*.wasm?all";

/** What the page adds to the built-in tools, so that a person sees a tool stopped, one that runs out of fuel, and an approval asked for. */
export const exampleTools: readonly ToolPackage[] = [...scripts, ...modules];

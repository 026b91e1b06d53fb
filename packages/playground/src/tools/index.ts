import type { ToolPackage } from "@keyhole/kernel";
// A file beside this one is a tool of the page, and so is a module in a folder, with its manifest.
import scripts from "keyhole:./*.ts?all";
import modules from "keyhole:./*/*.wasm?all";

/**
 * The page's additions to the built-in tools. They show a person a stopped tool, a tool that runs
 * out of fuel, and an approval request.
 */
export const exampleTools: readonly ToolPackage[] = [...scripts, ...modules];

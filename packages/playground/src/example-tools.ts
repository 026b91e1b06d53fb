import type { ToolPackage } from "@keyhole/kernel";
// A file of the folder is a tool of the page, and so is a module in a folder, with its manifest.
import scripts from "keyhole:./tools/*.ts?all";
import modules from "keyhole:./tools/*/*.wasm?all";

/**
 * The page's additions to the built-in tools. They show a person a stopped tool, a tool that runs
 * out of fuel, and an approval request.
 */
export const exampleTools: readonly ToolPackage[] = [...scripts, ...modules];

import type { ToolPackage } from "@keyhole/kernel";
import { builtinTools, runCode, webSearchAt } from "@keyhole/worker-host/tools";
import { exampleTools } from "../example-tools.ts";

/** The tools of the page's kernel. @param search address of a search engine, where a person set one up */
export function pageTools(search?: string): readonly ToolPackage[] {
  const searches = search === undefined ? [] : [webSearchAt(search)];
  return [...builtinTools, ...searches, runCode, ...exampleTools];
}

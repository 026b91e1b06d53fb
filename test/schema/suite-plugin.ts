import type { Plugin } from "vite";
import { readSuite } from "./read-suite.ts";

/** Serves the official suite as `virtual:json-schema-suite`, for runtimes that have no disk to read it from. */
export function jsonSchemaSuite(): Plugin {
  const id = "virtual:json-schema-suite";
  return {
    name: "json-schema-suite",
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    // As text: a literal would turn members named __proto__ into prototypes.
    load: (source) =>
      source === `\0${id}`
        ? `export const suite = JSON.parse(${JSON.stringify(JSON.stringify(readSuite() ?? null))});`
        : undefined,
  };
}

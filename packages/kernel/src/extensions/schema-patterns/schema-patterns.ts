import { linearPatterns } from "../../schema/regex/pattern.ts";
import type { Extension } from "../extension.ts";

/**
 * Matches `pattern` in the schemas of tools, in linear time. Without it the kernel refuses a package whose schema has a pattern. Patterns of tools that
 * `registerTrusted` took then run on the engine's own matcher.
 */
export function schemaPatterns(): Extension {
  return { name: "schemaPatterns", schemaParts: { linearPatterns } };
}

import { allParts } from "./all-parts.ts";
import { compileWithParts } from "./compile-with-parts.ts";
import type { CompileOptions, CompileResult } from "./types.ts";

/**
 * Compiles a JSON Schema to nodes that one interpreter runs: no code is generated, and nothing is fetched.
 *
 * A schema that cannot be compiled (malformed, too large, a reference that leads nowhere, a pattern whose time has no
 * bound) is an expected failure, and a result.
 *
 * @example
 * const compiled = compileSchema({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
 * if (compiled.ok) compiled.validator.check({ n: 1 }); // true
 */
export function compileSchema(schema: unknown, options: CompileOptions = {}): CompileResult {
  return compileWithParts(schema, { ...allParts, ...options });
}

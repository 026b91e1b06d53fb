import { knownOptions } from "../json/known-options.ts";
import { allParts } from "./all-parts.ts";
import { withCopies } from "./with-copies.ts";
import { compileOptions, type CompileOptions, type CompileResult } from "./types.ts";

/**
 * Compiles a JSON Schema to nodes that one interpreter runs: no code is generated, and nothing is fetched.
 *
 * An uncompilable schema is an expected failure, and a result: malformed, too large, an unresolved
 * reference, a pattern without a time bound.
 *
 * @example
 * const compiled = compileSchema({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
 * if (compiled.ok) compiled.validator.check({ n: 1 }); // true
 */
export function compileSchema(schema: unknown, options: CompileOptions = {}): CompileResult {
  return withCopies(schema, { ...allParts, ...knownOptions(options, compileOptions, "compileSchema") });
}

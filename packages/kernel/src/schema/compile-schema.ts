import { knownOptions } from "../json/known-options.ts";
import type { NormalizeReason } from "../json/normalize-error.ts";
import { snapshotOfSchema, snapshot } from "../json/snapshot.ts";
import { allParts } from "./all-parts.ts";
import { compileOwn } from "./compile-own.ts";
import { failure } from "./failure.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { compileOptions, type CompileOptions, type CompileResult, type Validator } from "./types.ts";

/**
 * Compiles a JSON Schema to nodes that one interpreter runs: no code is generated, and nothing is fetched. The schema is copied, and read once.
 *
 * An uncompilable schema is an expected failure, and a result: malformed, too large, an unresolved
 * reference, a pattern without a time bound.
 *
 * @example
 * const compiled = compileSchema({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
 * if (compiled.ok) compiled.validator.check({ n: 1 }); // true
 */
export function compileSchema(schema: unknown, options: CompileOptions = {}): CompileResult {
  const settings = knownOptions(options, compileOptions, "compileSchema");
  const { schemaDepth, schemaNodes, valueDepth, valueNodes } = { ...DEFAULT_LIMITS, ...settings.limits };
  const own = snapshotOfSchema(schema, { maxDepth: schemaDepth, maxNodes: schemaNodes });
  if (!own.ok) {
    const { reason, path, message } = own.error;
    const code = reason === "too-large" ? "SCHEMA_TOO_LARGE" : isLimit(reason) ? "SCHEMA_TOO_DEEP" : "SCHEMA_NOT_JSON";
    return {
      ok: false,
      error: { code, message: `The schema is not plain JSON data: ${message}.`, schemaPath: path },
    };
  }
  const compiled = compileOwn(own.value, { ...allParts, ...settings });
  if (!compiled.ok) return compiled;
  const { validator } = compiled;
  // The nodes bound the members, and the schema says how long a text can be.
  const limits = { maxDepth: valueDepth, maxNodes: valueNodes, maxMembers: valueNodes, maxStringUnits: Infinity };
  const validate: Validator["validate"] = (input) => {
    const copied = snapshot(input, limits);
    if (copied.ok) return validator.validateOwn(copied.value);
    const { reason, path } = copied.error;
    const keyword = isLimit(reason) ? "limit" : "json";
    return { ok: false, errors: [failure(path, "", "", keyword, "plain JSON data", `another value (${reason})`)] };
  };
  return { ok: true, validator: { ...validator, validate } };
}

const isLimit = (reason: NormalizeReason): boolean => reason === "cycle" || reason.startsWith("too-");

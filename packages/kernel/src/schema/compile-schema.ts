import { knownOptions } from "../json/known-options.ts";
import type { NormalizeError, NormalizeReason } from "../json/normalize-error.ts";
import { snapshotOfSchema, snapshot } from "../json/snapshot.ts";
import { allParts } from "./all-parts.ts";
import { compileOwn } from "./compile-own.ts";
import { failure } from "./failure.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import {
  compileOptions,
  type CompileOptions,
  type CompileResult,
  type SchemaError,
  type ValidationError,
  type Validator,
} from "./types.ts";

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
  const own = snapshotOfSchema(schema, { ...unbounded, maxDepth: schemaDepth, maxNodes: schemaNodes });
  if (!own.ok) return { ok: false, error: notJson(own.error) };
  const compiled = compileOwn(own.value, { ...allParts, ...settings });
  if (!compiled.ok) return compiled;
  const { check, validateOwn } = compiled.validator;
  const validator: Validator = {
    check,
    validate(input) {
      const copied = snapshot(input, { ...unbounded, maxDepth: valueDepth, maxNodes: valueNodes });
      return copied.ok ? validateOwn(copied.value) : { ok: false, errors: [notData(copied.error)] };
    },
    validateOwn,
  };
  return { ok: true, validator };
}

/** The nodes bound the members, and a schema says how long a text can be. */
const unbounded = { maxMembers: Infinity, maxStringUnits: Infinity };

const isLimit = (reason: NormalizeReason): boolean => reason === "cycle" || reason.startsWith("too-");

function notJson({ reason, path, message }: NormalizeError): SchemaError {
  const limited = reason === "too-large" ? "SCHEMA_TOO_LARGE" : "SCHEMA_TOO_DEEP";
  return {
    code: isLimit(reason) ? limited : "SCHEMA_NOT_JSON",
    message: `The schema is not plain JSON data: ${message}.`,
    schemaPath: path,
  };
}

const notData = ({ reason, path }: NormalizeError): ValidationError =>
  failure(path, "", "", isLimit(reason) ? "limit" : "json", "plain JSON data", `another value (${reason})`);

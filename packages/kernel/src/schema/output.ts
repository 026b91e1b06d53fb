import type { ValidationResult } from "./types.ts";

export interface FlagOutput {
  readonly valid: boolean;
}

export interface BasicOutput extends FlagOutput {
  readonly errors?: readonly BasicOutputUnit[];
}

export interface BasicOutputUnit {
  readonly valid: false;
  readonly keywordLocation: string;
  readonly absoluteKeywordLocation: string;
  readonly instanceLocation: string;
  readonly error: string;
}

/**
 * A result in one of JSON Schema's own output formats (2020-12, section 12.4): `flag` says whether the value conforms,
 * `basic` adds a flat list of errors.
 *
 * @example
 * toOutput(validator.validate(value), "basic"); // { valid: false, errors: [{ keywordLocation: "/type", … }] }
 */
export function toOutput(result: ValidationResult, format: "flag"): FlagOutput;
export function toOutput(result: ValidationResult, format: "basic"): BasicOutput;
export function toOutput(result: ValidationResult, format: "flag" | "basic"): BasicOutput {
  if (result.ok || format === "flag") return { valid: result.ok };
  const errors = result.errors.map((error) => ({
    valid: false as const,
    keywordLocation: error.schemaPath,
    absoluteKeywordLocation: error.schemaLocation,
    instanceLocation: error.instancePath,
    error: error.message,
  }));
  return { valid: false, errors };
}

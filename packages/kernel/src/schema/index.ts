export { compileSchema } from "./compile-schema.ts";
export type { FromSchema, SchemaInput } from "./from-schema.ts";
export { DEFAULT_LIMITS, type Limits } from "./limits.ts";
export type {
  CompileOptions,
  CompileResult,
  Draft,
  Explain,
  Idna,
  SchemaError,
  SchemaErrorCode,
  SchemaParts,
  ValidationError,
  ValidationResult,
  Validator,
} from "./types.ts";

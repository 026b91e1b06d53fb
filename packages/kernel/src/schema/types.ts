import type { OptionNames } from "../json/known-options.ts";
import type { Limits } from "./limits.ts";

/** The drafts that a caller can ask for. A schema's own `$schema` may also name 2019-09 or draft 6. */
export type Draft = "2020-12" | "draft-07";

/** Internationalised host names; `@keyhole/kernel/schema/idna` has the exact ones. */
export interface Idna {
  /** Whether a label that begins with `xn--` is the Punycode of a valid U-label (RFC 5891 section 5.4). */
  aLabel(label: string): boolean;
  /** Whether a name is a valid internationalised host name. */
  hostname(name: string): boolean;
}

/** Adds to `errors` why a value was refused. `@keyhole/kernel/schema/explain` has it; the other arguments are the engine's own. */
export type Explain = (place: never, value: unknown, context: never, errors: ValidationError[]) => void;

export interface CompileOptions {
  /**
   * Exact rules for the formats `idn-hostname`, `idn-email` and for `xn--` labels in host names. Without them a name is
   * only held to the kinds of characters and the lengths that IDNA 2008 allows.
   */
  readonly idna?: Idna;
  /**
   * Says why a value was refused: where, what was expected, what came, and what to do. Without it a value that does not
   * conform has one error, which only says so.
   */
  readonly explain?: Explain | undefined;
  /** The draft of schemas without `$schema`. Default `"2020-12"`. */
  readonly draft?: Draft;
  /** Whether `format` fails a value (`"assert"`, the default) or only describes it (`"annotate"`, the specification's default). */
  readonly formats?: "assert" | "annotate";
  /** Whether `validate` fills in `default` values (`"fill"`, the default) or leaves the copy as it came (`"ignore"`). */
  readonly defaults?: "fill" | "ignore";
  /** Documents that `$ref` may name, by absolute URI: JSON data that no longer changes. Nothing is ever fetched. */
  readonly resources?: ReadonlyMap<string, unknown>;
  /** Single limits to change; the others keep their defaults. */
  readonly limits?: Partial<Limits>;
  /** Allows patterns with look-around and back-references, whose matching time has no bound. Default `false`. */
  readonly trusted?: boolean;
}

export const compileOptions: OptionNames<CompileOptions> = {
  idna: true,
  explain: true,
  draft: true,
  formats: true,
  defaults: true,
  resources: true,
  limits: true,
  trusted: true,
};

/** Whether a text is of a format. `idna` only matters to the formats that have host names in them. */
export type Format = (text: string, idna?: Idna) => boolean;

/** A compiled pattern. */
export interface Pattern {
  /** Whether the pattern matches anywhere in a text. */
  matches(text: string): boolean;
}

/**
 * Compiles patterns of one validator to matchers whose time is linear in the text. Gives what in a pattern no such matcher can match, as a noun phrase.
 *
 * @param source a regular expression that the engine's own parser takes
 */
export type LinearPatterns = (limits: Limits, trusted: boolean) => (source: string, path: string) => Pattern | string;

/** Parts of the validator that a bundle can leave out. Without `explain` a refused value has one error, which names no place. */
export interface SchemaParts {
  readonly explain?: Explain | undefined;
  /** The test of a format; undefined for an unknown format, which only annotates. */
  readonly formatOf: (name: string, path: string) => Format | undefined;
  readonly linearPatterns: LinearPatterns;
}

/** The options of a compiler that has the parts that it is given, and no others. */
export interface CompileWithParts extends CompileOptions, SchemaParts {}

export type SchemaErrorCode =
  | "SCHEMA_NOT_JSON"
  | "SCHEMA_TOO_LARGE"
  | "SCHEMA_TOO_DEEP"
  | "KEYWORD_INVALID"
  | "KEYWORD_UNAVAILABLE"
  | "DIALECT_UNKNOWN"
  | "REF_UNRESOLVED"
  | "REF_CYCLE"
  | "PATTERN_INVALID"
  | "PATTERN_UNSAFE"
  | "PATTERN_TOO_LARGE";

/** Why a schema was refused. */
export interface SchemaError {
  readonly code: SchemaErrorCode;
  /** One plain sentence. */
  readonly message: string;
  /** Where in the schema: a URI reference whose fragment is a JSON Pointer (RFC 6901); `""` is the schema itself. */
  readonly schemaPath: string;
  readonly hint?: string;
}

/** Why a value was refused. */
export interface ValidationError {
  /** JSON Pointer to the part of the value that failed. */
  readonly instancePath: string;
  /** JSON Pointer to the keyword that failed, through every `$ref` on the way. */
  readonly schemaPath: string;
  /** The same place in the document that has it, every `$ref` resolved: a URI reference such as `#/$defs/id/minimum`. */
  readonly schemaLocation: string;
  /** The keyword; `"json"` for a value that JSON cannot carry, `"limit"` for a bound of the validator, `"schema"` without `explain`. */
  readonly keyword: string;
  /** The demand of the schema, as a noun phrase: `a string of 3 or more characters`. */
  readonly expected: string;
  /** The value, as a short noun phrase; never the text of a `writeOnly` or `password` value. */
  readonly received: string;
  /** One plain sentence with the path, what was expected and what came. */
  readonly message: string;
  /** The correction, where it is known. */
  readonly hint?: string;
  /** How many places have this error, where it is more than the one at `instancePath`. */
  readonly count?: number;
}

export type ValidationResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly errors: readonly ValidationError[] };

export interface Validator {
  /**
   * True when the value conforms. Allocates nothing on success. The value must be JSON data (from `JSON.parse` or
   * from `validate`): accessors would run, and class instances pass as objects. A value that exhausts a limit is false.
   */
  check(value: unknown): boolean;
  /**
   * Copies the value (own enumerable data only; anything that JSON cannot carry is an error), fills in defaults and
   * validates the copy. The value that was passed in is read once and never changed.
   */
  validate(value: unknown): ValidationResult;
  /**
   * `validate` of JSON data as for `check`. Copies only the objects and arrays that get a default, and those around them:
   * the others in the result are those that were passed in.
   */
  validateOwn(value: unknown): ValidationResult;
}

/** A validator of JSON data that is the program's own: it copies nothing. */
export type OwnValidator = Omit<Validator, "validate">;

export type CompileResult<Result extends OwnValidator = Validator> =
  | {
      readonly ok: true;
      readonly validator: Result;
    }
  | { readonly ok: false; readonly error: SchemaError };

/** A check of one value; internal currency of the engine. */
export type Check = (value: unknown) => boolean;

export type JsonObject = { readonly [key: string]: unknown };

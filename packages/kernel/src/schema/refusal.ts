import type { SchemaError, SchemaErrorCode } from "./types.ts";

/**
 * Leaves the compiler from any depth; `compileSchema` turns it into a result, so that no caller ever sees it.
 * Not an Error: no stack is taken, and a hostile schema cannot make refusing expensive.
 */
export class Refusal {
  readonly error: SchemaError;

  constructor(code: SchemaErrorCode, message: string, schemaPath: string, hint?: string) {
    this.error = { code, message, schemaPath, ...(hint === undefined ? {} : { hint }) };
  }
}

/** The refusal of a schema that has more of something than a limit allows. */
export const tooMuch = (code: SchemaErrorCode, limit: number, what: string, path: string, hint?: string): Refusal =>
  new Refusal(code, `The schema has more than ${limit} ${what}.`, path, hint);

/** Thrown by a check whose budget is used up; caught where the check began. */
export const EXHAUSTED: unique symbol = Symbol("exhausted");

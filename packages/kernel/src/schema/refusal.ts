import type { SchemaError, SchemaErrorCode } from "./types.ts";

/**
 * Leaves the compiler from any depth; `compileSchema` turns it into a result, so that no caller ever sees it.
 * Not an Error: no stack is taken, and a hostile schema cannot make refusing expensive.
 */
export class Refusal {
  readonly error: SchemaError;

  constructor(code: SchemaErrorCode, message: string, schemaPath: string, hint?: string) {
    this.error = hint === undefined ? { code, message, schemaPath } : { code, message, schemaPath, hint };
  }
}

/** Thrown by a check whose budget is used up; caught where the check began. */
export const EXHAUSTED: unique symbol = Symbol("exhausted");

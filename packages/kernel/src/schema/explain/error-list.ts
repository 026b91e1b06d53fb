import { failure } from "../failure.ts";
import type { ValidationError } from "../types.ts";

/** The fields of one error. `schemaPath` gives its place in the document. */
export interface Fault {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly location: string;
  readonly keyword: string;
  readonly expected: string;
  readonly received: string;
  readonly hint: string | undefined;
}

/** The errors of a value, at most as many as the limit says. Errors that differ only in their place are one, with a count, unless each counts. */
export class ErrorList {
  readonly errors: ValidationError[];
  readonly limit: number;
  /** Faults that were reported, those that were one with an earlier one included. */
  reported = 0;
  readonly #byText = new Map<string, { readonly at: number; readonly message: string }>();

  readonly #keepsEach: boolean;

  constructor(limit: number, errors: ValidationError[] = [], keepsEach = false) {
    this.limit = limit;
    this.#keepsEach = keepsEach;
    this.errors = errors;
  }

  get isFull(): boolean {
    return this.errors.length >= this.limit;
  }

  add({ instancePath, schemaPath, location, keyword, expected, received, hint }: Fault): void {
    this.push(failure(instancePath, schemaPath, location, keyword, expected, received, hint));
  }

  push(error: ValidationError): void {
    if (this.isFull) return;
    this.reported++;
    const text = JSON.stringify([
      this.#keepsEach && error.instancePath,
      error.schemaPath,
      error.expected,
      error.received,
      error.hint,
    ]);
    const known = this.#byText.get(text);
    if (known === undefined) {
      this.#byText.set(text, { at: this.errors.push(error) - 1, message: error.message });
      return;
    }
    const first = this.errors[known.at];
    if (first === undefined || first.instancePath === error.instancePath) return;
    const count = (first.count ?? 1) + (error.count ?? 1);
    const more = count === 2 ? "1 more place has" : `${count - 1} more places have`;
    this.errors[known.at] = { ...first, count, message: `${known.message} ${more} the same error.` };
  }
}

import { isJsonObject, pointerTokens } from "@keyhole/kernel";
import type { ValidationError } from "@keyhole/kernel/schema";
import { type Draft, memberOf, pointerTo } from "./value.ts";

/** The texts beside a field. */
export interface FieldError {
  /** JSON Pointer of the field. */
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/** The schema reports a missing member at its object; the person looks for it at the member's own field. */
export function placeErrors(errors: readonly ValidationError[], value: Draft): readonly FieldError[] {
  return errors.map((error) => {
    const missing = error.keyword === "required" ? missingMember(error, value) : undefined;
    const path = missing === undefined ? error.instancePath : pointerTo(error.instancePath, missing);
    return {
      path,
      message: messageOf(error, missing !== undefined),
      hint: (missing === undefined && error.hint) || "",
    };
  });
}

/** Says of a field that a person has not reached yet, too. */
export const missingText = "This field is required.";

/** The place is where the message stands, so that it need not name it. */
function messageOf({ keyword, expected, received, message }: ValidationError, isMissing: boolean): string {
  if (isMissing) return missingText;
  return keyword === "limit" ? message : `Expected ${expected}, got ${received}.`;
}

/** The validator names the member in quotes. */
function missingMember({ expected, instancePath }: ValidationError, value: Draft): string | undefined {
  const parent = at(value, instancePath);
  const [quoted] = /"(?:[^"\\]|\\.)*"/.exec(expected) ?? [];
  const name: unknown = quoted === undefined ? undefined : JSON.parse(quoted);
  return typeof name === "string" && memberOf(parent, name) === undefined ? name : undefined;
}

function at(value: Draft, pointer: string): Draft {
  let current: Draft = value;
  for (const key of pointerTokens(pointer)) {
    current = Array.isArray(current)
      ? (current as readonly Draft[])[Number(key)]
      : isJsonObject(current)
        ? memberOf(current, key)
        : undefined;
  }
  return current;
}

/** Of the field itself and of what is inside it. */
export function errorsWithin(errors: readonly FieldError[], path: string): readonly FieldError[] {
  return errors.filter((error) => error.path === path || error.path.startsWith(`${path}/`));
}

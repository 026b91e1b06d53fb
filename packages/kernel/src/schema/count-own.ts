import { isCompound } from "./equal.ts";
import type { SchemaErrorCode, ValidationError } from "./types.ts";

/** Takes over a schema document within the limits, and shows each name of a member. */
export type CopySchema = (
  source: unknown,
  maxDepth: number,
  maxNodes: number,
  onMember: (key: string) => void,
) =>
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly code: SchemaErrorCode;
      readonly error: Pick<ValidationError, "instancePath" | "expected" | "received" | "hint">;
    };

/** For JSON data that no longer changes: the validator counts it, and does not copy it. */
export const countOwn: CopySchema = (source, maxDepth, maxNodes, onMember) => {
  let left = maxNodes;
  const count = (value: unknown, depth: number): void => {
    left--;
    if (!isCompound(value)) return;
    if (depth === 0) left = -1;
    for (const key of Object.keys(value)) {
      if (left < 0) return;
      onMember(key);
      count(value[key], depth - 1);
    }
  };
  count(source, maxDepth);
  if (left >= 0) return { ok: true, value: source };
  const expected = `at most ${maxNodes} values on ${maxDepth} levels`;
  return { ok: false, code: "SCHEMA_TOO_LARGE", error: { instancePath: "", expected, received: "more" } };
};

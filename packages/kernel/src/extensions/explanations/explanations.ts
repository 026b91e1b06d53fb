import { explain } from "../../schema/explain/index.ts";
import type { Extension } from "../extension.ts";

/**
 * Says at which place a refused input, output, manifest or capability does not fit its schema, and how to correct it. Without it the same
 * values are refused, and the error names no place. Families that have explanations, such as `builtInFamilies`, bring them too.
 */
export function explanations(): Extension {
  return { name: "explanations", schemaParts: { explain } };
}

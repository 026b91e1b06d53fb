import type { JsonValue } from "@keyhole/kernel";
import type { Position } from "@keyhole/kernel/policy";

/** A text as data, and where its parts stand. */
export type ConfigText =
  | { readonly ok: true; readonly document: JsonValue; readonly locate: (pointer: string) => Position }
  | { readonly ok: false; readonly message: string; readonly at: Position };

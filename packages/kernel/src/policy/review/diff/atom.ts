import type { Dimension } from "./dimension.ts";
import type { Draft } from "./draft.ts";
import type { Mentioned } from "./need-part.ts";

/** A test of one dimension. */
export interface Atom {
  readonly dimension: Dimension;
  readonly mentioned: Partial<Mentioned>;
  /** Absent where only a later dimension shows it. */
  readonly holds?: (draft: Draft) => boolean;
  /** The facts about the value that a later dimension needs. */
  readonly sorts?: (draft: Draft) => string;
}

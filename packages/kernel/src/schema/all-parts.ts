import { formatOf } from "./formats/index.ts";
import { linearPatterns } from "./regex/pattern.ts";
import type { SchemaParts } from "./types.ts";

/** All parts but `explain`, which is an option of its own. */
export const allParts: SchemaParts = { formatOf, linearPatterns };

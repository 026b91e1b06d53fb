import { readFileSync } from "node:fs";
import { root } from "./sources.ts";

export interface VocabularySection {
  readonly title: string;
  readonly terms: readonly {
    /** Words of other tool kernels. */
    readonly elsewhere: string;
    readonly keyhole: string;
    /** The file of the test that shows the term, and the title of the test. */
    readonly file: string;
    readonly test: string;
  }[];
}

/** The rows of docs/vocabulary.md, by section. */
export const vocabulary = JSON.parse(
  readFileSync(`${root}test/support/vocabulary.json`, "utf8"),
) as readonly VocabularySection[];

import { Refusal } from "./refusal.ts";
import type { SchemaParts } from "./types.ts";

const unavailable = (keyword: string, path: string, part: string): Refusal =>
  new Refusal(
    "KEYWORD_UNAVAILABLE",
    `This kernel does not check the keyword ${keyword}.`,
    path,
    `Give composeKernel \`schemaParts: { ${part} }\`.`,
  );

/**
 * Refuses the schemas that need a part. An unknown format would only annotate: without the tests the validator knows none. A trusted pattern runs on the
 * engine's own matcher, as one that no automaton can match does.
 */
export const noParts: SchemaParts = {
  formatOf(_name, path) {
    throw unavailable("format", path, "formatOf");
  },
  linearPatterns: (_limits, trusted) => (_source, path) => {
    if (trusted) return "anything";
    throw unavailable("pattern", path, "linearPatterns");
  },
};

/** Bounds against hostile schemas and values. */
export interface Limits {
  /** JSON values in one schema document, counted before anything else is read. */
  readonly schemaNodes: number;
  /** Nesting of one schema document, in JSON levels. */
  readonly schemaDepth: number;
  /** Subschemas compiled for one validator, over all documents that it reaches. */
  readonly subschemas: number;
  /** UTF-16 units of one pattern. */
  readonly patternLength: number;
  /** States of the automaton of one pattern, its repetitions written out: `[a-z]{10}` has ten. */
  readonly patternStates: number;
  /** States of the automata of all patterns of one validator together. */
  readonly totalPatternStates: number;
  /** UTF-16 units of a text that a format is asserted of; a longer one does not conform. */
  readonly formatLength: number;
  /** Nesting of a value, in JSON levels. */
  readonly valueDepth: number;
  /** JSON values in one value. */
  readonly valueNodes: number;
  /**
   * Steps for one value: its check, its defaults and its explanation together. A `$ref` or a branch
   * of a combinator costs one and the size of the value. A pattern costs eight and the size of the
   * text, a member or item one. Some steps cost more. A step takes at most 100 ns.
   */
  readonly steps: number;
  /** `$ref`s that may be open at once while a value is checked. */
  readonly refDepth: number;
  /** Errors in one result. */
  readonly errors: number;
}

export const DEFAULT_LIMITS: Limits = {
  schemaNodes: 100_000, // the largest published tool and API schemas have about 60,000
  schemaDepth: 128,
  subschemas: 20_000,
  patternLength: 2_000,
  patternStates: 5_000,
  totalPatternStates: 40_000,
  formatLength: 65_536, // the engine's matcher runs out of stack at about a million
  valueDepth: 64,
  valueNodes: 1_000_000,
  steps: 3_000_000, // a tenth of a second, or three at worst
  refDepth: 1_000,
  errors: 32,
};

/** A part of a request, and of the capabilities that grant it. */
export interface NeedPart {
  /** Members of a capability that look at this part alone. */
  readonly members: readonly string[];
  /** The condition of rules about it, and the list of tools. */
  readonly condition?: string;
  /** Members of a request, on both sides of each boundary that is mentioned. */
  readonly values: (mentioned: Mentioned) => readonly object[];
  /** Whether they reach every combination of what is mentioned. Default: they do. */
  readonly isWhole?: (mentioned: Mentioned) => boolean;
}

/** The texts that policies have for one part. */
export interface Mentioned {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  readonly others: readonly unknown[];
}

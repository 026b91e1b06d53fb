/** The facts of a scan about one function, besides its metering points. */
export interface Flow {
  hasLoop: boolean;
  /** Also tail calls: a function that calls may recurse. */
  hasCall: boolean;
  /** Whether it catches exceptions: control then arrives from anywhere inside, and no local knows the fuel. */
  catches: boolean;
  /** It uses the scratch locals for counts of bulk operations and of growth. */
  counts: boolean;
  /** Whether the closing `end` can be reached. */
  endIsLive: boolean;
  /** Whether a branch that is not always taken leads to the function's own label. */
  branchesOut: boolean;
  /** Whether an exception may land at the function's own label. */
  caughtAtEnd: boolean;
  /** How many exceptions its operand stack may keep at once, at most. */
  keeps: number;
}

export const noFlow: Readonly<Flow> = {
  hasLoop: false,
  hasCall: false,
  catches: false,
  counts: false,
  endIsLive: false,
  branchesOut: false,
  caughtAtEnd: false,
  keeps: 0,
};

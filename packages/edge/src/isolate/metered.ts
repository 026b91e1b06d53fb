import type { IsolateOutcome, IsolateUsage } from "@keyhole/kernel";
import * as v from "valibot";

/** The result of the shell around a metered module: the outcome and the cost of the call. */
export interface MeteredAnswer {
  readonly usage: Required<IsolateUsage>;
  /** An outcome that only what counts can know of. */
  readonly exhausted: IsolateOutcome | undefined;
  /** Any other, not yet looked at. */
  readonly outcome: unknown;
}

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const answer = v.object({
  usage: v.strictObject({ fuelUsed: count, peakMemoryBytes: count }),
  outcome: v.unknown(),
});

const exhausted = v.union([
  v.strictObject({ kind: v.picklist(["out-of-fuel", "out-of-memory"]), limit: count }),
  v.strictObject({ kind: v.literal("too-large"), what: v.literal("stack"), limit: count }),
]);

/** The shell is ours and the module cannot speak in its name; it is read with the same care as any other. */
export function readMetered(data: unknown): MeteredAnswer | undefined {
  const read = v.safeParse(answer, data);
  if (!read.success) return undefined;
  const { usage, outcome } = read.output;
  const ended = v.safeParse(exhausted, outcome);
  return { usage, outcome, exhausted: ended.success ? ended.output : undefined };
}

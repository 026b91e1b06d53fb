import type { IsolateOutcome, IsolateUsage } from "@keyhole/kernel";

/** The result of the shell around a metered module: the outcome and the cost of the call. */
export interface MeteredAnswer {
  readonly usage: Required<IsolateUsage>;
  /** An outcome that only what counts can know of. */
  readonly exhausted: IsolateOutcome | undefined;
  /** Any other, not yet looked at. */
  readonly outcome: unknown;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** The shell is ours and the module cannot speak in its name; it is read with the same care as any other. */
export function readMetered(data: unknown): MeteredAnswer | undefined {
  const { fuelUsed, peakMemoryBytes } = membersOf(membersOf(data)["usage"]);
  if (!isCount(fuelUsed) || !isCount(peakMemoryBytes)) return undefined;
  const { outcome } = membersOf(data);
  const { kind, what, limit } = membersOf(outcome);
  const usage = { fuelUsed, peakMemoryBytes };
  if (!isCount(limit)) return { usage, outcome, exhausted: undefined };
  if (kind === "out-of-fuel" || kind === "out-of-memory") return { usage, outcome, exhausted: { kind, limit } };
  const isStack = kind === "too-large" && what === "stack";
  return { usage, outcome, exhausted: isStack ? { kind, what, limit } : undefined };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

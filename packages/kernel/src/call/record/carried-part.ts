import type { OfKind } from "../../capability/family.ts";
import type { GateCounts } from "../../capability/gate/call-usage.ts";
import type { IsolateUsage } from "../../isolate/port.ts";

/**
 * Names one part of a snapshot, and its type. The step or extension that owns the part declares it.
 * A snapshot is sealed and names its version, so this version wrote every part that it reads.
 */
export interface CarriedPart<T> {
  readonly name: string;
  readonly type?: T;
}

/** A snapshot that has it belongs to a call whose tool has started. */
export const gatePart: CarriedPart<GateCounts> = { name: "gate" };
/** How far the runs of the call have come. */
export const runPart: CarriedPart<{
  readonly leftMs: number;
  readonly pauseLeftMs: number;
  readonly attempt: number;
  readonly used: readonly IsolateUsage[];
}> = { name: "run" };
/** The grants of the call, and the authority that gave them. */
export const authorityPart: CarriedPart<{
  readonly policyHash: string;
  readonly mode: string;
  readonly layers: readonly (readonly OfKind[])[];
}> = { name: "authority" };

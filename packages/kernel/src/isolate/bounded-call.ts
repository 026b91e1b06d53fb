import type { EffectiveBounds } from "../bounds/effective.ts";
import type { CallPort, Isolate, IsolateCall, IsolateOutcome } from "./port.ts";

declare class Made {
  #bounded: never;
}
/** A call under effective bounds. */
export interface BoundedCall extends IsolateCall, Made {}

/** An isolate as the kernel holds it: it takes no call without effective bounds. */
export interface OwnIsolate extends Omit<Isolate, "call"> {
  readonly call: (call: BoundedCall, port: CallPort) => Promise<IsolateOutcome>;
}

/**
 * @param fuelUsed by earlier runs that share the fuel
 * @param outputBytes of an output that is not the tool's
 * @param isMetered whether the host holds a bound of fuel: the calls around this one can bring one to any host
 */
export function boundedCall(
  call: Omit<IsolateCall, "outputBytes" | "fuel" | "memoryBytes">,
  bounds: EffectiveBounds,
  {
    fuelUsed = 0,
    outputBytes = bounds.outputBytes,
    isMetered = true,
  }: { readonly fuelUsed?: number; readonly outputBytes?: number; readonly isMetered?: boolean } = {},
): BoundedCall {
  const { fuel, memoryBytes } = bounds;
  return {
    ...call,
    outputBytes,
    ...(isMetered && fuel !== undefined && { fuel: Math.max(0, fuel - fuelUsed) }),
    ...(memoryBytes !== undefined && { memoryBytes }),
  } as BoundedCall;
}

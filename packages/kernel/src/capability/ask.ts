import type { CapabilityRequest } from "./request.ts";

/*
 * The guest's side of a request, for the guest's half of a family. A guest carries this and no family.
 */

/**
 * Asks the kernel. Rejects with a `CapabilityRefused` where the request was refused. The answer is data of the broker, and as good as that: it has the form that the
 * kind says.
 */
export type Ask = <Value>(request: CapabilityRequest) => Promise<Answer<Value>>;

export interface Answer<Value> {
  readonly value: Value;
  readonly body?: Uint8Array;
}

/** The body of a request. */
export function bodyBytes(data: Uint8Array | string): Uint8Array {
  return typeof data === "string" ? new TextEncoder().encode(data) : data;
}

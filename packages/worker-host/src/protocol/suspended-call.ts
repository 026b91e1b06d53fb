import type { CapabilityRequest } from "@keyhole/kernel";

/** An interpreter between two slices, as data. */
export interface Image {
  readonly memory: Uint8Array<ArrayBuffer>;
  readonly stackPointer: number;
  readonly runtime: number;
  readonly context: number;
  /** Pointer to the box of the shell's function for messages. */
  readonly dispatch: number;
}

/** The bounds of a call, and the fuel that it has used. */
export interface CallFuel {
  readonly fuel: number;
  readonly fuelUsed: number;
  readonly memoryBytes: number;
}

/** An interpreter that waits in the middle of one call. */
export interface SuspendedMachine {
  readonly image: Image;
  readonly callId: string;
  readonly used: CallFuel;
}

/** A request without an answer when its call was suspended. */
export interface OutstandingRequest {
  /** 0, 1, 2, … within the call. */
  readonly number: number;
  readonly request: CapabilityRequest;
}

/** Counters and open requests of a call, as they were when it was suspended. */
export interface CallHistory {
  /** Log lines and progress reports, together. */
  readonly messages: number;
  /** Requests, answered ones included. */
  readonly requests: number;
  readonly outstanding: readonly OutstandingRequest[];
}

export interface SuspendedCall extends CallHistory {
  readonly machine: SuspendedMachine;
}

/** The history of a call that begins. */
export const newCall: CallHistory = { messages: 0, requests: 0, outstanding: [] };

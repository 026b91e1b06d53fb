/** The limits of an untrusted value. A limit of `n` accepts `n` and refuses `n + 1`. */
export interface SnapshotLimits {
  /** Arrays and objects within each other. Default 64. */
  readonly maxDepth?: number;
  /** Values of any kind, the root included; a value that is referenced twice counts twice. Default 1,000,000. */
  readonly maxNodes?: number;
  /** Members of all objects together: engines take far longer for one than for an item of an array. Default 250,000. */
  readonly maxMembers?: number;
  /** All keys and strings together, in UTF-16 units. Default 16,777,216. */
  readonly maxStringUnits?: number;
}

/**
 * Deeper data is a mistake or an attack. A million nodes take some 100 MB of memory, and a million
 * members hold a thread for many seconds. An isolate may send 16 Mi units at once.
 */
export const SNAPSHOT_LIMITS: Required<SnapshotLimits> = {
  maxDepth: 64,
  maxNodes: 1_000_000,
  maxMembers: 250_000,
  maxStringUnits: 16_777_216,
};

import type { SqlLimits, SqlValue } from "@keyhole/worker-host/brokers/db";

export const limits: SqlLimits = { rows: 10, bytes: 10_000, timeMs: 120_000 };
export const never: AbortSignal = new AbortController().signal;

/** A cell as a test can compare it: small integers as numbers, whichever way the engine gives them. */
export function plain(value: SqlValue): unknown {
  if (value instanceof Uint8Array) return [...value];
  return typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

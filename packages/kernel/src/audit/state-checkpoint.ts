import type { Hash } from "../hash/hash.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import type { RowChange } from "../state/change.ts";
import type { OpenCall } from "./open-calls.ts";

/**
 * The governing state after one event. A kernel that opens the log there need not read earlier
 * events. It is unsigned: the log overrides it.
 */
export interface StateCheckpoint {
  readonly seq: number;
  /** Of that event. */
  readonly hash: string;
  /** Since the epoch. The rows omit state that had expired at this time. */
  readonly atMs: number;
  readonly rows: readonly RowChange[];
  /** Calls that had begun and not ended. */
  readonly openCalls: readonly OpenCall[];
}

/** Before version 2 no row had the mode. The digest in front shows a text that a crash tore. */
export function checkpointText(checkpoint: StateCheckpoint, hash: Hash): string {
  const body = canonicalJson({ ...checkpoint, v: 2 });
  return hash.text(body) + body;
}

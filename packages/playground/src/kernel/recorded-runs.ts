import type { RunEntry } from "@keyhole/kernel/replay";
import { jsonLength } from "../run/result/size.ts";

interface Recorded {
  /** In the order of what happened, among all calls. */
  readonly entries: { readonly at: number; readonly entry: RunEntry }[];
  units: number;
}

/** Of one call, as JSON. A longer record is dropped: a part of it replays nothing. */
const mostOfCall = 4 << 20;
/** Of all untaken calls: calls within calls, and those that still run. */
const mostOfAll = 32 << 20;
/** Untaken calls. */
const mostCalls = 1_000;

/** The records of the calls of a kernel, until the page takes them. */
export class RecordedRuns {
  readonly #calls = new Map<string, Recorded>();
  #at = 0;
  #units = 0;

  readonly write = (entry: RunEntry): void => {
    const recorded = this.#calls.get(entry.callId) ?? { entries: [], units: 0 };
    this.#calls.set(entry.callId, recorded);
    const units = jsonLength(entry, mostOfCall);
    recorded.units += units;
    this.#units += units;
    if (recorded.units > mostOfCall) recorded.entries.length = 0;
    else recorded.entries.push({ at: this.#at++, entry });
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= mostCalls && this.#units <= mostOfAll) break;
      if (oldest !== entry.callId) this.#remove(oldest);
    }
  };

  /** @returns the entries of the calls, which are forgotten here; `undefined` where there are none, or too many of one */
  take(callIds: readonly string[]): readonly RunEntry[] | undefined {
    const found = callIds.flatMap((id) => this.#calls.get(id) ?? []);
    for (const id of callIds) this.#remove(id);
    if (found.length === 0 || found.some(({ units }) => units > mostOfCall)) return undefined;
    const entries = found.flatMap((recorded) => recorded.entries).sort((a, b) => a.at - b.at);
    return entries.map(({ entry }) => entry);
  }

  #remove(callId: string): void {
    this.#units -= this.#calls.get(callId)?.units ?? 0;
    this.#calls.delete(callId);
  }
}

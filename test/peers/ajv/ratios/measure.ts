import { workloads } from "../../../bench/schema-workloads.ts";
import type { Side, Verdict } from "./contest.ts";

export interface Row {
  readonly name: string;
  readonly verdict: Verdict;
  /** Nanoseconds for one value. */
  readonly oursNs: number;
  readonly theirsNs: number;
}

/** Milliseconds that so many runs take. */
export type Timed = (workload: number, side: Side, verdict: Verdict, times: number) => Promise<number> | number;

const ROUNDS = 15;

/** One long run can be a machine that did something else: too few runs would then be measured, below what the clock can tell. */
async function isShort(run: () => Promise<number> | number, roundMs: number): Promise<boolean> {
  for (let time = 0; time < 3; time++) if ((await run()) < roundMs) return true;
  return false;
}

/** The fastest of rounds that take turns: what else the machine does only makes one slower. */
export async function measure(timed: Timed, roundMs: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [workload, entry] of workloads.entries())
    for (const verdict of ["valid", "invalid"] as const) {
      const best = { ours: Infinity, theirs: Infinity };
      const times = { ours: 1, theirs: 1 };
      for (const side of ["ours", "theirs"] as const)
        while (await isShort(() => timed(workload, side, verdict, times[side]), roundMs)) times[side] *= 2;
      for (let round = 0; round < ROUNDS; round++)
        for (const side of ["ours", "theirs"] as const)
          best[side] = Math.min(best[side], (await timed(workload, side, verdict, times[side])) / times[side]);
      const ns = (ms: number): number => (ms * 1e6) / entry[verdict].length;
      rows.push({ name: entry.name, verdict, oursNs: ns(best.ours), theirsNs: ns(best.theirs) });
    }
  return rows;
}

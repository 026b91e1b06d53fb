import type { Waited } from "./waiting.ts";

/** What a run of chaos saw. Times are for people: no test depends on them. */
export interface ChaosReport {
  readonly calls: number;
  /** How the calls ended. */
  readonly ends: Readonly<Record<string, number>>;
  readonly tool: Waited;
  /** Beside it, what the machine itself makes wait: a round trip between two threads that have nothing to do with Keyhole. */
  readonly bare: Waited;
}

export function reportText({ calls, ends, tool, bare }: ChaosReport): string {
  const counted = Object.entries(ends).map(([code, count]) => `${count} ${code}`);
  const rows = [`${calls} calls: ${counted.join(", ")}`];
  for (const [what, { quiet, chaos }] of [
    ["another tool", tool],
    ["two bare threads", bare],
  ] as const) {
    for (const percent of [50, 99]) {
      const quietMs = percentile(quiet, percent);
      const chaosMs = percentile(chaos, percent);
      const times = (chaosMs / quietMs).toFixed(1);
      rows.push(`${what}: p${percent} ${quietMs.toFixed(2)} ms quiet, ${chaosMs.toFixed(2)} ms beside it, ${times} ×`);
    }
    rows.push(`${what}: ${quiet.length} round trips quiet, ${chaos.length} beside it`);
  }
  return `${rows.join("\n")}\n`;
}

/** Keeps so many of 100 within it. */
function percentile(times: readonly number[], percent: number): number {
  return times.toSorted((a, b) => a - b)[Math.ceil((times.length * percent) / 100) - 1] ?? 0;
}

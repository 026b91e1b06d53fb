/** What a run of chaos saw. Times are for people: no test depends on them. */
export interface ChaosReport {
  readonly calls: number;
  /** How the calls ended. */
  readonly ends: Readonly<Record<string, number>>;
  readonly tool: Waited;
  /** Beside it, what the machine itself makes wait: a round trip between two threads that have nothing to do with Keyhole. */
  readonly bare: Waited;
}

/** p99 of round trips before anything went wrong, and while everything did. */
export interface Waited {
  readonly quietMs: number;
  readonly chaosMs: number;
}

export function reportText({ calls, ends, tool, bare }: ChaosReport): string {
  const counted = Object.entries(ends).map(([code, count]) => `${count} ${code}`);
  const row = (what: string, { quietMs, chaosMs }: Waited): string =>
    `${what}: p99 ${quietMs.toFixed(2)} ms quiet, ${chaosMs.toFixed(2)} ms beside it, ${(chaosMs / quietMs).toFixed(1)} ×`;
  return `${[`${calls} calls: ${counted.join(", ")}`, row("another tool", tool), row("two bare threads", bare)].join("\n")}\n`;
}

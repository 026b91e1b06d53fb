// The loads that every store is measured under.
import type { AuditSink } from "@keyhole/kernel";
import { callsInto, fill, type Load, verified } from "./load.ts";

const events = 40_000;

/** In this order: what is verified is what the first one wrote. */
export const rows = {
  batches: { name: "appended, 200 a batch", run: (sink) => fill(sink, events, 200) },
  verified: { name: "read back and verified", run: (sink) => verified(sink, events) },
  small: { name: "appended, 5 a batch", run: (sink) => fill(sink, 5_000, 5) },
  single: { name: "appended, 1 a batch", run: (sink) => fill(sink, 1_000, 1) },
  together: { name: "of calls, 64 at a time", run: (sink) => callsInto(sink, 5_000, 64) },
  apart: { name: "of calls, one after another", run: (sink) => callsInto(sink, 1_000, 1) },
} as const satisfies Record<string, { readonly name: string; readonly run: (sink: AuditSink) => Promise<Load> }>;

export type Row = keyof typeof rows;
export type Figures = Record<Row, { readonly load: Load; readonly durationMs: number }>;

const rowNames = Object.keys(rows) as Row[];

/** Which log a row writes or reads. */
export function logOf(row: Row): string {
  return row === "verified" ? "batches" : row;
}

/** @param run does what a row says. The time is taken here, outside of it: some hosts' clocks stand still while they compute. */
export async function timed(run: (row: Row) => Promise<Load>): Promise<Figures> {
  const figures: Partial<Record<Row, Figures[Row]>> = {};
  for (const row of rowNames) {
    const startMs = performance.now();
    const load = await run(row);
    figures[row] = { load, durationMs: performance.now() - startMs };
  }
  return figures as Figures;
}

/** For a host whose clock goes on while it computes. */
export async function measure(open: (log: string) => AuditSink & { close?(): unknown }): Promise<Figures> {
  const sinks = new Map<string, ReturnType<typeof open>>();
  const figures = await timed((row) => {
    const sink = sinks.get(logOf(row)) ?? open(logOf(row));
    sinks.set(logOf(row), sink);
    return rows[row].run(sink);
  });
  for (const sink of sinks.values()) await sink.close?.();
  return figures;
}

export function report(stores: Readonly<Record<string, Figures>>): void {
  for (const [store, figures] of Object.entries(stores)) {
    for (const row of rowNames) {
      const { load, durationMs } = figures[row];
      const perSecond = Math.round((load.events / durationMs) * 1_000).toLocaleString("en");
      const batches = `${load.batches.toLocaleString("en")} batches, ${(durationMs / load.batches).toFixed(2)} ms each`;
      console.log(`${store.padEnd(24)} ${rows[row].name.padEnd(28)} ${perSecond.padStart(8)} events/s  ${batches}`);
    }
  }
}

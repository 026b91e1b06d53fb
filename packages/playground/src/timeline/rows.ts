import type { AuditEvent } from "@keyhole/kernel";
import type { Axis } from "./axis.ts";
import type { Break } from "./chain.ts";
import type { Span, SpanKind } from "./spans.ts";

/** A row of the waterfall: a span, or a break of the chain before the next one. */
export type Row =
  | { readonly kind: "span"; readonly key: string; readonly span: Span; readonly link: "whole" | "unproven" }
  | { readonly kind: "break"; readonly key: string; readonly broken: Break };

/** The rows that a chip shows or hides. */
export const chips = {
  policy: "policy",
  people: "people",
  crossings: "crossings",
  nested: "nested",
  events: "other events",
} as const satisfies Record<string, string>;

export type Chip = keyof typeof chips;

const chipOf: Readonly<Partial<Record<SpanKind, Chip>>> = {
  policy: "policy",
  person: "people",
  queue: "people",
  crossing: "crossings",
  event: "events",
};

export interface Shown {
  readonly hidden: ReadonlySet<Chip>;
  readonly text: string;
  /** Places on the axis. */
  readonly from: number;
  readonly to: number;
}

/** Rows in the order of the log. A break stays under every filter. */
export function rowsOf(
  spans: readonly Span[],
  places: ReadonlyMap<AuditEvent, number>,
  breaks: readonly Break[],
  axis: Axis,
  shown: Shown,
): readonly Row[] {
  const rows: Row[] = [];
  const ordered = [...breaks].sort((a, b) => a.index - b.index);
  const wanted = shown.text.trim().toLowerCase();
  let next = 0;
  const breakUntil = (index: number): void => {
    for (let broken = ordered[next]; broken !== undefined && broken.index <= index; broken = ordered[++next])
      rows.push({ kind: "break", key: `break ${next}`, broken });
  };
  for (const [at, span] of spans.entries()) {
    breakUntil(places.get(span.event) ?? -1);
    if (!isShown(span, wanted, axis, shown)) continue;
    rows.push({ kind: "span", key: `${at}`, span, link: next > 0 ? "unproven" : "whole" });
  }
  breakUntil(Number.POSITIVE_INFINITY);
  return rows;
}

function isShown(span: Span, wanted: string, axis: Axis, { hidden, from, to }: Shown): boolean {
  const chip = chipOf[span.kind];
  if (chip !== undefined && hidden.has(chip)) return false;
  if (span.isNested && hidden.has("nested")) return false;
  if ((from > 0 || to < 1) && (axis.at(span.end) < from || axis.at(span.start) > to)) return false;
  if (wanted === "") return true;
  return [span.name, span.target, span.outcome, span.event.hash].some((each) => each.toLowerCase().includes(wanted));
}

/** One column of the strip over the waterfall: a bit for each lane. */
export const lanes = ["call", "person", "crossing", "denied"] as const;

/** @returns for each lane the columns that something of it touches */
export function overviewOf(spans: readonly Span[], axis: Axis, columns: number): readonly Uint8Array[] {
  const touched = lanes.map(() => new Uint8Array(columns));
  const column = (time: number): number => Math.min(columns - 1, Math.floor(axis.at(time) * columns));
  for (const { kind, state, start, end } of spans) {
    const lane =
      state === "denied"
        ? 3
        : kind === "call"
          ? 0
          : kind === "person" || kind === "queue"
            ? 1
            : kind === "crossing"
              ? 2
              : -1;
    if (lane >= 0) touched[lane]?.fill(1, column(start), column(end) + 1);
  }
  return touched;
}

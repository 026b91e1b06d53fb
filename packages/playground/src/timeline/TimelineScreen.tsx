import type { AuditEvent } from "@keyhole/kernel";
import { type ReactNode, useDeferredValue, useEffect, useMemo, useState } from "react";
import { durationText } from "../app/words.ts";
import { Button } from "../ui/Button.tsx";
import { Loading } from "../ui/Notice.tsx";
import { VirtualRows } from "../ui/VirtualRows.tsx";
import { axisOf } from "./axis.ts";
import { Overview } from "./Overview.tsx";
import { type Chip, chips, type Row, rowsOf } from "./rows.ts";
import { SpanPane } from "./SpanPane.tsx";
import { RowCells, Ruler, spanColumns } from "./SpanRow.tsx";
import { type Span, spansOf } from "./spans.ts";
import { type Logged, useCallEvents, useSessionEvents } from "./useLogged.ts";
import { type Chain, ChainText, useChain } from "./useChain.tsx";
import { useWindow } from "./useWindow.ts";
import { type View, viewOf, type Window } from "./view.ts";
import "./timeline.css";
import "./timeline-pane.css";

interface TimelineScreenProps {
  /** The call; all calls of the session without it. */
  readonly id: string | undefined;
  readonly onCall: (id: string) => void;
  readonly onSession: () => void;
}

/** When everything happened, as a waterfall. */
export function TimelineScreen({ id, ...rest }: TimelineScreenProps): ReactNode {
  return id === undefined ? <OfSession {...rest} /> : <OfCall key={id} id={id} {...rest} />;
}

type Rest = Omit<TimelineScreenProps, "id">;

function OfCall({ id, ...rest }: Rest & { readonly id: string }): ReactNode {
  return <Waterfall logged={useCallEvents(id)} id={id} {...rest} />;
}

function OfSession(rest: Rest): ReactNode {
  return <Waterfall logged={useSessionEvents()} id={undefined} {...rest} />;
}

interface WaterfallProps extends TimelineScreenProps {
  readonly logged: Logged;
}

function Waterfall({ logged, id, onCall, onSession }: WaterfallProps): ReactNode {
  const [shown, setShown] = useState<Chosen>({ isFolded: true, hidden: new Set(), text: "" });
  const [selected, setSelected] = useState<Extract<Row, { kind: "span" }>>();
  const zoom = useWindow();
  const { window } = zoom;
  const { events, spans, view, places, chain, rows } = useRows(logged, shown, window);
  const rowHeight = useRowHeight();
  return (
    <main className="screen wf" aria-label="Timeline" data-pane={selected !== undefined || undefined}>
      <div className="column">
        <header className="bar under screen-head small wf-head">
          <h1>Timeline</h1>
          <span className="wf-of">
            {id === undefined ? "All calls of this browser" : "One call"}
            {id !== undefined && <Button onPress={onSession}>Show the whole session</Button>}
          </span>
          <ChainText chain={chain} events={events} />
          <Choices chosen={shown} rows={rows.length} onChange={setShown} />
          {(window.from > 0 || window.to < 1) && <Button onPress={zoom.reset}>Show all the time</Button>}
        </header>
        {logged.left !== "" && <p className="small wf-left">{logged.left}</p>}
        {logged.isLoading ? (
          <Loading>Reading the events…</Loading>
        ) : (
          <>
            <Overview spans={spans} axis={view.axis} zoom={zoom} />
            <VirtualRows
              label="Spans"
              className="wf-rows"
              rows={rows}
              keyOf={({ key }) => key}
              rowHeight={rowHeight}
              head={<Columns view={view} />}
              selected={selected?.key}
              onOpen={(row) => setSelected(row.kind === "span" ? row : undefined)}
              emptyText={
                events.length === 0 ? "No event yet. Run a tool, and its events appear here." : "No span matches."
              }
            >
              {(row) => <RowCells row={row} view={view} />}
            </VirtualRows>
            <Legend spans={spans} />
          </>
        )}
      </div>
      {selected && (
        <SpanPane
          span={selected.span}
          next={(event) => nextOf(events, places, event)}
          onOpenCall={openCall(id ?? logged.callOf.get(selected.span.event), onCall)}
          onClose={() => setSelected(undefined)}
        />
      )}
    </main>
  );
}

/** The person's choice of rows. */
interface Chosen {
  readonly isFolded: boolean;
  readonly hidden: ReadonlySet<Chip>;
  readonly text: string;
}

interface Drawn {
  readonly events: readonly AuditEvent[];
  readonly spans: readonly Span[];
  readonly view: View;
  readonly places: ReadonlyMap<AuditEvent, number>;
  readonly chain: Chain;
  readonly rows: readonly Row[];
}

function useRows(logged: Logged, { isFolded, hidden, text }: Chosen, window: Window): Drawn {
  const events = useDeferredValue(logged.events);
  const spans = useMemo(() => spansOf(events), [events]);
  const axis = useMemo(() => axisOf(spans, isFolded), [spans, isFolded]);
  const places = useMemo(() => new Map(events.map((event, index) => [event, index])), [events]);
  const chain = useChain(events);
  const { breaks } = chain;
  const rows = useMemo(
    () => rowsOf(spans, places, breaks, axis, { hidden, text, ...window }),
    [spans, places, breaks, axis, hidden, text, window],
  );
  const view = useMemo(() => viewOf(axis, window), [axis, window]);
  return { events, spans, view, places, chain, rows };
}

interface ChoicesProps {
  readonly chosen: Chosen;
  readonly rows: number;
  readonly onChange: (chosen: Chosen) => void;
}

function Choices({ chosen, rows, onChange }: ChoicesProps): ReactNode {
  return (
    <>
      <Chips hidden={chosen.hidden} onChange={(hidden) => onChange({ ...chosen, hidden })} />
      <label className="wf-switch">
        <input
          type="checkbox"
          checked={chosen.isFolded}
          onChange={({ target }) => onChange({ ...chosen, isFolded: target.checked })}
        />{" "}
        Fold waiting
      </label>
      <input
        type="search"
        className="surface wf-find"
        aria-label="Search spans"
        placeholder={`Search ${rows.toLocaleString("en")} rows`}
        value={chosen.text}
        onChange={({ target }) => onChange({ ...chosen, text: target.value })}
      />
    </>
  );
}

function Columns({ view }: { readonly view: View }): ReactNode {
  return (
    <>
      {spanColumns.map((name) => (
        <th key={name} scope="col" className={`wf-${classOf[name]}`}>
          {name === "Chain" ? <span className="visually-hidden">Chain</span> : name}
        </th>
      ))}
      <th scope="col" className="wf-cell">
        <span className="visually-hidden">Time</span>
        <Ruler view={view} />
      </th>
    </>
  );
}

const classOf = {
  Chain: "chain",
  Event: "seq",
  Span: "name",
  Target: "target",
  Outcome: "outcome",
  Bytes: "bytes",
  Start: "start",
  Took: "took",
} as const satisfies Record<(typeof spanColumns)[number], string>;

function openCall(id: string | undefined, onCall: (id: string) => void): (() => void) | undefined {
  return id === undefined ? undefined : () => onCall(id);
}

function nextOf(
  events: readonly AuditEvent[],
  places: ReadonlyMap<AuditEvent, number>,
  event: AuditEvent,
): AuditEvent | undefined {
  const next = events[(places.get(event) ?? Number.NaN) + 1];
  return next?.seq === event.seq + 1 ? next : undefined;
}

interface ChipsProps {
  readonly hidden: ReadonlySet<Chip>;
  readonly onChange: (hidden: ReadonlySet<Chip>) => void;
}

function Chips({ hidden, onChange }: ChipsProps): ReactNode {
  const toggled = (chip: Chip): ReadonlySet<Chip> => {
    const next = new Set(hidden);
    if (!next.delete(chip)) next.add(chip);
    return next;
  };
  return (
    <fieldset className="filter-chips" aria-label="Which spans">
      {(Object.keys(chips) as Chip[]).map((chip) => (
        <button
          key={chip}
          type="button"
          className="hovers filter-chip"
          aria-pressed={!hidden.has(chip)}
          onClick={() => onChange(toggled(chip))}
        >
          {chips[chip]}
        </button>
      ))}
    </fieldset>
  );
}

function Legend({ spans }: { readonly spans: readonly Span[] }): ReactNode {
  const waitedMs = useMemo(
    () => spans.reduce((sum, { kind, start, end }) => sum + (kind === "person" ? end - start : 0), 0),
    [spans],
  );
  return (
    <p className="note over wf-legend">
      <span data-lane="call">own time</span>
      <span data-lane="person">waiting for a person</span>
      <span data-lane="crossing">through the wall</span>
      <span data-lane="denied">refused</span>
      <span className="wf-sum">waited for people {durationText(waitedMs)}</span>
    </p>
  );
}

const narrow = "(width < 720px)";

/** In pixels, as the style sheet has it. */
function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(narrow).matches);
  useEffect(() => {
    const query = matchMedia(narrow);
    const onChange = (): void => setNarrow(query.matches);
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, []);
  return isNarrow ? 56 : 24;
}

import { type Decision, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { StateMark } from "../ui/StateMark.tsx";
import type { SimulatedRow } from "./simulation.ts";
import type { SessionCalls } from "./useSessionCalls.ts";

interface SimulationProps {
  readonly session: SessionCalls;
  /** `undefined` while the draft is no policy. */
  readonly rows: readonly SimulatedRow[] | undefined;
  /** Grants that no call needs, as lines. */
  readonly unused: readonly UnusedGrant[];
  readonly onShowGrant: (index: number) => void;
}

export interface UnusedGrant {
  readonly index: number;
  readonly tool: string;
  readonly text: string;
}

/** Rows of one list; the bar counts all. */
const mostRows = 100;

/** The draft's decisions about the calls of this session. */
export function Simulation({ session, rows, unused, onShowGrant }: SimulationProps): ReactNode {
  const count = session.calls.length;
  return (
    <aside className="pane sunken policy-sim" aria-label="Simulation">
      <h2>
        Over this session’s {count.toLocaleString("en")} {count === 1 ? "call" : "calls"}
      </h2>
      {count === 0 && <p className="hint">Run a tool. Then this column says which calls a change decides otherwise.</p>}
      {rows === undefined && <p className="hint">The draft is no policy yet, so nothing is simulated.</p>}
      {rows !== undefined && count > 0 && <Changes rows={rows} />}
      {unused.length > 0 && count > 0 && (
        <>
          <h3>Needed by no call, could be closed</h3>
          <ul className="surface over">
            {unused.slice(0, mostRows).map(({ index, tool, text }) => (
              <li key={index}>
                <button
                  type="button"
                  className="line hovers small sim-row"
                  title={visible(text)}
                  onClick={() => onShowGrant(index)}
                >
                  <code>{visible(tool)}</code>
                  <span className="muted sim-what">{visible(text)}</span>
                  <span>0 calls</span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      <p className="hint">
        The kernel decides each call by its input, as it does before a call runs. Requests that a running tool makes,
        and calls that tools make, are not simulated.
        {session.left > 0 &&
          ` ${session.left.toLocaleString("en")} calls are left out: they are too many, or their input is not here.`}
      </p>
    </aside>
  );
}

function Changes({ rows }: { readonly rows: readonly SimulatedRow[] }): ReactNode {
  const changed = rows.filter(({ before, after }) => before !== after);
  const refused = rows.filter(({ before, after }) => before === "deny" && after === "deny");
  return (
    <>
      <output className="sim-say">
        <b>{changed.length.toLocaleString("en")}</b> of {rows.length.toLocaleString("en")} change
      </output>
      <Bar rows={rows} changed={changed.length} />
      <RowList rows={changed} label="Calls that change" />
      {refused.length > 0 && (
        <>
          <h3>Stays refused</h3>
          <RowList rows={refused} label="Calls that stay refused" />
        </>
      )}
    </>
  );
}

const kinds = ["allow", "ask", "deny"] as const satisfies readonly Decision[];
const states = { allow: "completed", ask: "asks", deny: "refused" } as const;
const stayWords = { allow: "stay allowed", ask: "stay asked", deny: "stay refused" } as const;

function Bar({ rows, changed }: { readonly rows: readonly SimulatedRow[]; readonly changed: number }): ReactNode {
  const staying = kinds.map((kind) => ({
    kind,
    count: rows.filter(({ before, after }) => before === kind && after === kind).length,
  }));
  const parts = [...staying, { kind: "change" as const, count: changed }];
  let x = 0;
  return (
    <div className="sim-bar">
      <svg width="100%" height="20" aria-hidden="true">
        {parts.map(({ kind, count }) => {
          const from = x;
          x += (100 * count) / rows.length;
          return <rect key={kind} data-kind={kind} x={`${from}%`} width={`${x - from}%`} height="20" />;
        })}
      </svg>
      <p className="small sim-legend">
        {staying.map(({ kind, count }) => (
          <span key={kind} className="said" data-decision={kind}>
            <StateMark state={states[kind]} /> {count} {stayWords[kind]}
          </span>
        ))}
        <b>{changed} change</b>
      </p>
    </div>
  );
}

function RowList({ rows, label }: { readonly rows: readonly SimulatedRow[]; readonly label: string }): ReactNode {
  if (rows.length === 0) return null;
  return (
    <ul className="surface over" aria-label={label}>
      {rows.slice(0, mostRows).map(({ call, before, after, reason }) => (
        <li key={call.id}>
          <a
            className="line hovers small sim-row"
            href={`#/call/${encodeURIComponent(call.id)}`}
            title={visible(reason)}
          >
            <code>{visible(call.manifest.name)}</code>
            <span className="muted sim-what">{visible(call.what)}</span>
            <Said decision={before} />
            {after !== before && (
              <>
                <span aria-label="becomes">→</span>
                <Said decision={after} />
              </>
            )}
          </a>
        </li>
      ))}
      {rows.length > mostRows && <li className="hint">and {(rows.length - mostRows).toLocaleString("en")} more</li>}
    </ul>
  );
}

function Said({ decision }: { readonly decision: Decision }): ReactNode {
  return (
    <span className="said" data-decision={decision}>
      <StateMark state={states[decision]} /> {decision}
    </span>
  );
}

import { readVersionedId, visible } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { durationText } from "../app/words.ts";
import type { GovernanceState } from "../client/kernel-client.ts";
import { sumsOf } from "../log/filters.ts";
import { CallBoundary } from "../run/CallBoundary.tsx";
import type { CallHead } from "../session/call-head.ts";
import { useSessionState } from "../session/useSession.ts";
import { Glyph } from "../ui/Glyph.tsx";
import { StateMark } from "../ui/StateMark.tsx";
import type { ConversationState } from "./conversation.ts";
import { useLive } from "./useLive.ts";

interface TurnPaneProps {
  readonly state: ConversationState;
  readonly turn: number;
  readonly governed: GovernanceState | undefined;
}

/** The calls of one turn on one axis of time, and the boundary of the chosen call. */
export function TurnPane({ state, turn, governed }: TurnPaneProps): ReactNode {
  const { heads } = useSessionState();
  const [chosen, setChosen] = useState<string>();
  const ids = new Set(
    state.entries.flatMap((entry) => (entry.by === "call" && entry.turn === turn && entry.id ? [entry.id] : [])),
  );
  const calls = heads.filter(({ id }) => ids.has(id)).toSorted((a, b) => a.startedAt - b.startedAt);
  const shown = calls.find(({ id }) => id === chosen) ?? calls.at(-1);
  const { ownMs, waitedMs } = sumsOf(calls);
  return (
    <section className="column sunken agent-turn-pane" aria-label="Timeline of the turn">
      <header className="bar under screen-head agent-head">
        <h2>{turn === 0 ? "No turn yet" : `Turn ${turn}`}</h2>
        {calls.length > 0 && (
          <span className="muted">
            own {durationText(ownMs)} · waited {durationText(waitedMs)}
          </span>
        )}
        <span className="space" />
        <a href="#/timeline">Whole timeline</a>
      </header>
      {calls.length > 0 && <TurnTable calls={calls} shown={shown?.id} onChoose={setChosen} />}
      {shown !== undefined && <Picture id={shown.id} governed={governed} />}
    </section>
  );
}

interface TurnTableProps {
  readonly calls: readonly CallHead[];
  readonly shown: string | undefined;
  readonly onChoose: (id: string) => void;
}

function TurnTable({ calls, shown, onChoose }: TurnTableProps): ReactNode {
  const [first] = calls;
  const start = first?.startedAt ?? 0;
  const end = Math.max(...calls.map(({ startedAt, ownMs, waitedMs }) => startedAt + ownMs + waitedMs));
  const share = (ms: number): string => `${(100 * ms) / Math.max(1, end - start)}%`;
  return (
    <section className="surface agent-table" aria-label="Calls of the turn">
      <table>
        <thead>
          <tr>
            <th scope="col">Wall</th>
            <th scope="col">Call</th>
            <th scope="col">Decision</th>
            <th scope="col">Own</th>
            <th scope="col">0 – {durationText(end - start)}</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((head) => (
            <tr key={head.id} aria-current={head.id === shown || undefined}>
              <td>
                <Glyph
                  isPure={head.openings === 0 && head.state === "completed"}
                  openings={head.openings}
                  crossings={head.crossings}
                  stopped={head.stopped}
                />
              </td>
              <th scope="row">
                <button type="button" className="mono-s agent-pick" onClick={() => onChoose(head.id)}>
                  {visible(readVersionedId(head.tool).name)}
                </button>
              </th>
              <td className="small agent-state" data-state={head.state}>
                <StateMark state={head.state} />
                {head.code === "" ? head.state : head.code}
              </td>
              <td>{durationText(head.ownMs)}</td>
              <td>
                <span className="visually-hidden">from {durationText(head.startedAt - start)}</span>
                <svg className="agent-bar" width="100%" height="12" aria-hidden="true">
                  <rect className="waited" x={share(head.startedAt - start)} width={share(head.waitedMs)} height="12" />
                  <rect
                    className="own"
                    x={share(head.startedAt - start + head.waitedMs)}
                    y="3"
                    width={share(head.ownMs)}
                    height="6"
                  />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface PictureProps {
  readonly id: string;
  readonly governed: GovernanceState | undefined;
}

function Picture({ id, governed }: PictureProps): ReactNode {
  const run = useLive(id);
  return (
    <div className="agent-picture">
      {run ? (
        <CallBoundary run={run} governed={governed} />
      ) : (
        <p className="hint">Open the call to see its boundary.</p>
      )}
    </div>
  );
}

import { visible } from "@keyhole/kernel";
import type { Divergence, Run } from "@keyhole/kernel/replay";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { Fact } from "../ui/Fact.tsx";
import { Json } from "../ui/Json.tsx";
import { StateMark } from "../ui/StateMark.tsx";
import { VirtualRows } from "../ui/VirtualRows.tsx";
import { callOf, type EntryRow } from "./entries.ts";
import type { Played } from "./played.ts";

interface LanesProps {
  readonly run: Run;
  readonly rows: readonly EntryRow[];
  readonly played: Played;
  readonly canPlay: boolean;
  readonly onPlay: () => void;
}

const stepMs = 400;

/** The recording beside the replay, entry by entry, with a place that a person moves. */
export function Lanes({ run, rows, played, canPlay, onPlay }: LanesProps): ReactNode {
  const last = rows.length - 1;
  const divergence = divergenceOf(played);
  const end = divergence?.seq ?? last;
  const [at, setAt] = useState(0);
  const [isMoving, setMoving] = useState(false);
  const move = (to: number): void => setAt(Math.max(0, Math.min(last, to)));
  useEffect(() => {
    if (!isMoving) return undefined;
    const timer = setTimeout(() => {
      if (at < end) setAt(at + 1);
      if (at + 1 >= end) setMoving(false);
    }, stepMs);
    return () => clearTimeout(timer);
  }, [isMoving, at, end]);
  return (
    <>
      <Controls
        at={at}
        last={last}
        end={end}
        isMoving={isMoving}
        divergence={divergence}
        canReplay={canPlay && played.state !== "running"}
        onReplay={onPlay}
        onMove={move}
        onPlay={() => setMoving(!isMoving)}
      />
      <div className="replay-lanes">
        <VirtualRows
          label="Entries"
          className="replay-rows"
          rows={rows}
          keyOf={({ seq }) => String(seq)}
          rowHeight={28}
          head={<Heads />}
          selected={String(at)}
          onOpen={({ seq }) => move(seq)}
          emptyText="The run has no entry."
        >
          {(row) => <Cells row={row} played={played} />}
        </VirtualRows>
        <EntryPane key={at} run={run} seq={at} divergence={divergence?.seq === at ? divergence : undefined} />
      </div>
    </>
  );
}

interface ControlsProps {
  readonly at: number;
  readonly last: number;
  /** The last entry that the replay reached. */
  readonly end: number;
  readonly isMoving: boolean;
  readonly divergence: Divergence | undefined;
  readonly canReplay: boolean;
  readonly onReplay: () => void;
  readonly onMove: (to: number) => void;
  readonly onPlay: () => void;
}

function Controls(props: ControlsProps): ReactNode {
  const { at, last, end, isMoving, divergence, canReplay, onReplay, onMove, onPlay } = props;
  return (
    <div className="bar sunken under replay-controls">
      <Button look="primary" icon="play" onPress={onReplay} isUnavailable={!canReplay}>
        Replay
      </Button>
      <Button icon="back" onPress={() => onMove(at - 1)} isUnavailable={at === 0}>
        Back
      </Button>
      <Button onPress={() => onMove(at + 1)} isUnavailable={at === last}>
        Step
      </Button>
      <Button onPress={onPlay} isUnavailable={!isMoving && at >= end}>
        {isMoving ? "Pause" : "Play"}
      </Button>
      <label className="replay-scrub">
        <span className="visually-hidden">Entry</span>
        <input
          type="range"
          min={0}
          max={Math.max(0, last)}
          value={at}
          onChange={({ target }) => onMove(Number(target.value))}
        />
      </label>
      <output>
        entry {at} of {last}
      </output>
      {divergence !== undefined && <Button onPress={() => onMove(divergence.seq)}>First difference</Button>}
    </div>
  );
}

function Heads(): ReactNode {
  return (
    <>
      <th scope="col" className="muted num">
        #
      </th>
      <th scope="col" className="replay-lane">
        Recorded
      </th>
      <th scope="col" className="replay-lane">
        Replayed
      </th>
    </>
  );
}

function Cells({ row, played }: { readonly row: EntryRow; readonly played: Played }): ReactNode {
  const { seq, kind, word, text } = row;
  const state = laneState(played, seq);
  return (
    <>
      <td className="muted num">{seq}</td>
      <td className="replay-lane" data-kind={kind}>
        <b>{word}</b> {text}
      </td>
      <td className="replay-lane" data-lane={state} data-kind={kind}>
        {state === "same" && (
          <>
            <StateMark state="completed" /> <b>{word}</b> as recorded
          </>
        )}
        {state === "other" && (
          <>
            <StateMark state="failed" /> <b>differs</b>
          </>
        )}
        {state === "unreached" && "not reached"}
      </td>
    </>
  );
}

type LaneState = "same" | "other" | "unreached" | "none";

function laneState(played: Played, seq: number): LaneState {
  if (played.state !== "done") return "none";
  const { replay } = played;
  if (replay.ok) return "same";
  if (replay.kind === "refused") return "unreached";
  if (seq === replay.divergence.seq) return "other";
  return seq < replay.divergence.seq ? "same" : "unreached";
}

function divergenceOf(played: Played): Divergence | undefined {
  return played.state === "done" && !played.replay.ok && played.replay.kind === "diverged"
    ? played.replay.divergence
    : undefined;
}

interface EntryPaneProps {
  readonly run: Run;
  readonly seq: number;
  readonly divergence: Divergence | undefined;
}

function EntryPane({ run, seq, divergence }: EntryPaneProps): ReactNode {
  const entry = run.entries[seq];
  if (entry === undefined) return null;
  const call = callOf(run, seq);
  return (
    <aside className="pane sunken replay-pane" aria-label="The entry">
      <h2>Entry {seq}</h2>
      {divergence !== undefined && <Difference divergence={divergence} />}
      <dl className="facts">
        <Fact name="Call">
          <code>{visible(entry.callId)}</code>
        </Fact>
        {call !== undefined && (
          <Fact name="Tool">
            <code>{visible(call.tool)}</code>
          </Fact>
        )}
      </dl>
      {call !== undefined && call !== entry && (
        <>
          <h3>Input of the call</h3>
          <Json value={parsed(call.inputText)} label="Input of the call" />
        </>
      )}
      <h3>Recorded</h3>
      <Json value={entry} label="Recorded entry" />
    </aside>
  );
}

/** The place, as lines of a JSON document that changed there. */
function Difference({ divergence }: { readonly divergence: Divergence }): ReactNode {
  const { reason, difference, expectedHash, actualHash } = divergence;
  return (
    <section className="stack-m wrap replay-difference" aria-label="First difference">
      <p>
        <b>{visible(reason.split(" At ")[0] ?? reason)}</b>
      </p>
      <p>{difference === undefined ? "Digests" : <code>{visible(difference.path || "the whole value")}</code>}</p>
      <div className="box wrap mono-s surface line-diff">
        <div data-kind="removed">− {visible(difference?.expected ?? expectedHash)}</div>
        <div data-kind="added">+ {visible(difference?.actual ?? actualHash)}</div>
      </div>
    </section>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

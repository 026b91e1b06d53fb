import { visible } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { durationText } from "../app/words.ts";
import type { ActiveRun } from "../run/run-state.ts";
import { decisionOf } from "../run/decision-text.ts";
import { wordOf } from "../run/verdict.ts";
import type { CallHead } from "../session/call-head.ts";
import { useSessionState, useShown } from "../session/useSession.ts";
import { Choice } from "../ui/Choice.tsx";
import { DiffView } from "../ui/DiffView.tsx";
import { Empty, Loading } from "../ui/Notice.tsx";

/** The latest of the log: one chooses from a list. */
const mostCalls = 200;

/** Two calls of the log of calls: input, decision and outcome of each. */
export function Compare(): ReactNode {
  const { heads } = useSessionState();
  const [first, setFirst] = useState<string>();
  const [second, setSecond] = useState<string>();
  const shown = heads.slice(0, mostCalls);
  const [a, b] = [first ?? shown[1]?.id, second ?? shown[0]?.id];
  if (shown.length < 2)
    return (
      <Empty title="There are no two calls yet">
        <p>Run a tool twice. Then this screen shows what differs.</p>
      </Empty>
    );
  const options = shown.map((head) => ({ id: head.id, text: nameOf(head) }));
  return (
    <section className="pane replay-compare" aria-label="Two calls">
      <div className="stack-l replay-choices">
        <Choice label="The one call" options={options} value={a} onChange={setFirst} />
        <Choice label="The other call" options={options} value={b} onChange={setSecond} />
      </div>
      <Pair key={`${a} ${b}`} first={a} second={b} />
    </section>
  );
}

function nameOf({ tool, what, startedAt, state }: CallHead): string {
  return visible(`${new Date(startedAt).toLocaleTimeString("en-GB")} ${tool} ${what.slice(0, 60)} (${state})`);
}

interface PairProps {
  readonly first: string | undefined;
  readonly second: string | undefined;
}

function Pair({ first, second }: PairProps): ReactNode {
  const [a, b] = [useShown(first), useShown(second)];
  if (a?.state === "loading" || b?.state === "loading") return <Loading>Reading the calls…</Loading>;
  if (a?.state !== "shown" || b?.state !== "shown") return <p className="hint">A call cannot be read.</p>;
  const parts = [partsOf(a.run), partsOf(b.run)] as const;
  return (
    <>
      {parts[0].map(({ name, text }, index) => {
        const other = parts[1][index]?.text ?? "";
        return (
          <section key={name} className="stack-m replay-part" aria-label={name}>
            <h2>
              {name} <span className="muted">{text === other ? "the same" : "differs"}</span>
            </h2>
            {text === other ? null : <DiffView before={text} after={other} label={`${name}: difference`} />}
          </section>
        );
      })}
    </>
  );
}

interface Part {
  readonly name: string;
  readonly text: string;
}

/** Omits values that differ in every two calls, such as times and ids. */
function partsOf(run: ActiveRun): readonly Part[] {
  const result = run.phase === "done" ? run.result : undefined;
  return [
    { name: "Tool", text: `${run.tool.id}\n${run.tool.hash}` },
    { name: "Input", text: textOf(run.input) },
    { name: "Decision", text: decisionOf(run) },
    { name: "End", text: wordOf(run) },
    { name: "Result", text: result === undefined ? "" : textOf(result.ok ? result.data : result.error) },
    { name: "Hash", text: result?.ok === true ? result.hash : "" },
    { name: "Events", text: run.events.map(({ type }) => type).join("\n") },
    { name: "Log lines", text: run.logs.map(({ message }) => message).join("\n") },
    { name: "Time", text: result === undefined ? "" : durationText(result.meta.durationMs) },
  ];
}

/** The view compares more than this by its hash alone. */
const mostText = 200_000;

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.byteLength} bytes`;
  const text = JSON.stringify(value, undefined, 2) ?? "";
  return text.length > mostText ? `${text.length} characters: too long to compare here` : text;
}

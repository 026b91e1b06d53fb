import { type ReactNode, useState } from "react";
import { Segmented } from "../ui/Segmented.tsx";
import { Compare } from "./Compare.tsx";
import "./replay.css";
import { RunReplay } from "./RunReplay.tsx";

const parts = [
  { value: "run", text: "A run file" },
  { value: "compare", text: "Compare two calls" },
] as const;

/**
 * A repeated run beside its recording, or two calls of the log beside each other.
 *
 * @param callId a call of the session to begin with; empty without one
 */
export function ReplayScreen({ callId }: { readonly callId: string }): ReactNode {
  const [part, setPart] = useState<(typeof parts)[number]["value"]>("run");
  return (
    <main className="screen replay-screen" aria-label="Replay">
      <header className="bar under screen-head">
        <h1>Replay</h1>
        <Segmented label="What to replay" value={part} options={parts} onChange={setPart} />
      </header>
      {part === "run" ? <RunReplay callId={callId} /> : <Compare />}
    </main>
  );
}

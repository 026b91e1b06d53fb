import { visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import type { CallState } from "../session/call-head.ts";
import { StateMark } from "../ui/StateMark.tsx";
import { shortHash } from "../ui/short-hash.ts";
import type { KnownTools, OpenedRun } from "./open-run.ts";
import type { Played } from "./played.ts";

interface StripProps {
  readonly opened: Extract<OpenedRun, { ok: true }>;
  /** `undefined` while they are looked for. */
  readonly known: KnownTools | undefined;
  readonly played: Played;
}

interface Verdict {
  readonly name: string;
  readonly text: string;
  readonly state: CallState;
}

/** The facts about the run, each by this page's own computation. */
export function Strip({ opened, known, played }: StripProps): ReactNode {
  const { run, hash } = opened;
  const entries = run.entries.length;
  const verdicts: readonly Verdict[] = [
    { name: "Chain", text: `whole, ${entries} of ${entries} entries, ${shortHash(hash)}`, state: "completed" },
    { name: "Signature", text: "none: a run file does not say who wrote it", state: "asks" },
    toolsVerdict(known),
    replayVerdict(played),
  ];
  return (
    <dl className="replay-strip">
      {verdicts.map(({ name, text, state }) => (
        <div key={name} data-state={state}>
          <dt>
            <StateMark state={state} />
            {name}
          </dt>
          <dd>{visible(text)}</dd>
        </div>
      ))}
    </dl>
  );
}

function toolsVerdict(known: KnownTools | undefined): Verdict {
  const name = "Tools";
  if (known === undefined) return { name, text: "looked for", state: "running" };
  if (known.missing.length === 0) return { name, text: "all here, by their hashes", state: "completed" };
  return { name, text: `not here: ${known.missing.slice(0, 3).join(", ")}`, state: "refused" };
}

function replayVerdict(played: Played): Verdict {
  const name = "Replay";
  if (played.state === "failed") return { name, text: "did not run", state: "failed" };
  if (played.state !== "done")
    return played.state === "idle"
      ? { name, text: "not run yet", state: "left" }
      : { name, text: "runs", state: "running" };
  const { replay } = played;
  if (replay.ok)
    return {
      name,
      text: `the same bytes, ${replay.calls} ${replay.calls === 1 ? "call" : "calls"}`,
      state: "completed",
    };
  if (replay.kind === "refused") return { name, text: "refused", state: "refused" };
  return { name, text: `differs at entry ${replay.divergence.seq}`, state: "failed" };
}

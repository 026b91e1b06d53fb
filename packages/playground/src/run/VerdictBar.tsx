import { type ReactNode, useMemo } from "react";
import { bytesText, durationText } from "../app/words.ts";
import { isResultHash } from "@keyhole/worker-host/edge-protocol";
import { verdictTexts } from "@keyhole/kernel/audit";
import { type CallHead, headOf, stateOf } from "../session/call-head.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { StateMark } from "../ui/StateMark.tsx";
import { useNow } from "../ui/time.ts";
import { visible } from "@keyhole/kernel";
import type { ActiveRun } from "./run-state.ts";
import { decisionOf } from "./decision-text.ts";
import { wordOf } from "./verdict.ts";

interface VerdictBarProps {
  readonly run: ActiveRun;
  /** In the session. */
  readonly id: string | undefined;
}

/** How the call stands: the decision as a sentence, the tool's time and the person's time apart, what went through, and the hash. */
export function VerdictBar({ run, id }: VerdictBarProps): ReactNode {
  const state = stateOf(run);
  const callId = run.phase === "done" ? run.result.callId : run.events[0]?.callId;
  return (
    <header className="bar run-head surface under verdict-bar" data-state={state}>
      <StateMark state={state} />
      <div>
        <p className="wrap verdict-line">
          <output className="toned">
            <b>{wordOf(run)}</b>
          </output>
          . {visible(decisionOf(run))}
        </p>
        <p className="note wrap">
          <code>{visible(run.tool.id)}</code>
          {typeof callId === "string" && (
            <span title={visible(callId)}>
              {" "}
              · call <code>…{visible(callId.slice(-8))}</code>
            </span>
          )}
          {id !== undefined && run.phase === "done" && run.recorded !== undefined && (
            <>
              {" "}
              · <a href={`#/replay/${encodeURIComponent(id)}`}>Replay this run</a>
            </>
          )}
        </p>
      </div>
      <Facts run={run} />
    </header>
  );
}

function Facts({ run }: { readonly run: ActiveRun }): ReactNode {
  const head = useMemo(() => headOf(run, nowhere), [run]);
  if (run.phase === "running") return <Elapsed since={run.startedAt} />;
  if (run.phase === "broken") return null;
  const { meta } = run.result;
  return (
    <dl className="verdict-facts">
      <Fact name="Own time">{durationText(head.ownMs)}</Fact>
      {head.waitedMs >= 1 && (
        <Fact name="Waited" look="wait">
          {durationText(head.waitedMs)}
        </Fact>
      )}
      <Fact name="Bytes">{bytesText(head.bytes)}</Fact>
      {meta.fuelUsed !== undefined && <Fact name="Fuel">{meta.fuelUsed.toLocaleString("en")}</Fact>}
      {meta.cached && <Fact name="Result">of an equal call</Fact>}
      {run.verification !== undefined && <Fact name="Answer">{verdictTexts[run.verification.verdict]}</Fact>}
      {run.result.ok && (
        <Fact name="Output hash">
          <HashChip run={run} hash={run.result.hash} />
        </Fact>
      )}
    </dl>
  );
}

const nowhere = {
  id: "",
  tab: "",
  place: "browser",
  address: null,
  what: "",
  unkept: [],
} as const satisfies Partial<CallHead>;

interface FactProps {
  readonly name: string;
  readonly look?: "wait";
  readonly children: ReactNode;
}

function Fact({ name, look, children }: FactProps): ReactNode {
  return (
    <div data-look={look}>
      <dt className="note">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Eight characters, and whether this page computed the same. */
function HashChip({ run, hash }: { readonly run: ActiveRun & { phase: "done" }; readonly hash: string }): ReactNode {
  const { tool, result, unkept = [] } = run;
  const isSame = useMemo(
    () => (unkept.length > 0 ? undefined : isResultHash(tool, result)),
    [tool, result, unkept.length],
  );
  return (
    <span className="hash-chip" title={visible(hash)}>
      <code>{visible(hash.slice(hash.indexOf(":") + 1, hash.indexOf(":") + 9))}</code>
      {isSame === true && <span className="small hash-tick">✓ recomputed</span>}
      {isSame === false && (
        <span className="small hash-tick" data-look="broken">
          ✗ another hash
        </span>
      )}
      <CopyButton text={hash} what="the output hash" />
    </span>
  );
}

/** Often enough to be alive, seldom enough to be calm. */
const tickMs = 100;

function Elapsed({ since }: { readonly since: number }): ReactNode {
  const now = useNow(since, tickMs);
  return (
    <span className="muted num run-time" aria-hidden="true">
      {((now - since) / 1_000).toFixed(1)} s
    </span>
  );
}

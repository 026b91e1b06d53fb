import { readVersionedId, type ToolSummary, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { bytesText, durationText } from "../app/words.ts";
import { Question } from "../approval/Question.tsx";
import { decisionOf } from "../run/decision-text.ts";
import { stateWords, wordOf } from "../run/verdict.ts";
import type { ActiveRun } from "../run/run-state.ts";
import { type CallState, isOpen, stateOf } from "../session/call-head.ts";
import { useSessionState } from "../session/useSession.ts";
import { shortHash } from "../ui/short-hash.ts";
import { StateMark } from "../ui/StateMark.tsx";
import type { Asked, CallEntry } from "./conversation.ts";
import { useLive } from "./useLive.ts";

interface CallCardProps {
  readonly entry: CallEntry;
  /** It waits for the person, here. */
  readonly question: Asked | undefined;
  readonly tools: readonly ToolSummary[];
}

/** One call where the model made it: its arguments, as an approver left them, its decision, and the question in place. */
export function CallCard({ entry, question, tools }: CallCardProps): ReactNode {
  const { id, tool, what, refused, isAnswered = false } = entry;
  const { heads } = useSessionState();
  const head = heads.find((each) => each.id === id);
  const run = useLive(id);
  const state = run ? stateOf(run) : (head?.state ?? stateWithout(refused !== undefined, isAnswered));
  return (
    <article
      ref={question && toTheTop}
      className="box shrinks agent-card"
      data-state={state}
      aria-label={`Call of ${visible(tool)}`}
    >
      <header className="bar">
        <code>{visible(tool)}</code>
        <span className="clip muted mono-s agent-what">{visible(head?.what ?? what)}</span>
        <span className="small agent-state" data-state={state}>
          <StateMark state={state} />
          {run ? wordOf(run) : head ? stateWords[head.state] : (words[state] ?? state)}
        </span>
      </header>
      {refused !== undefined && <p className="note wrap agent-result">{visible(refused)}</p>}
      {run !== undefined && question === undefined && <Result run={run} />}
      {head !== undefined && question === undefined && !isOpen(head.state) && (
        <p className="note wrap agent-result agent-facts">
          <span>own {durationText(head.ownMs)}</span>
          {head.waitedMs >= 1 && <span>waited {durationText(head.waitedMs)}</span>}
          <span>{bytesText(head.bytes)}</span>
          {head.hash !== null && <code title={visible(head.hash)}>{visible(shortHash(head.hash))}</code>}
          <a href={`#/call/${encodeURIComponent(head.id)}`}>Open the call</a>
        </p>
      )}
      {question !== undefined && (
        <div className="over agent-question">
          <Question
            key={question.request.approvalId}
            request={question.request}
            place={{ number: 1, total: 1 }}
            tool={tools.find((each) => each.id === question.request.tool)}
            before={question.before}
            onAnswer={question.answer}
          />
        </div>
      )}
    </article>
  );
}

/** A person reads a question from its beginning; its answers stay in sight below. */
function toTheTop(card: HTMLElement | null): void {
  card?.scrollIntoView({ block: "start" });
}

const words: Readonly<Partial<Record<CallState, string>>> = {
  running: "Starts",
  refused: "Not called",
  completed: "Answered without a call",
};

/** Of a call that the kernel does not have. */
function stateWithout(isRefused: boolean, isAnswered: boolean): CallState {
  if (isRefused) return "refused";
  return isAnswered ? "completed" : "running";
}

function Result({ run }: { readonly run: ActiveRun }): ReactNode {
  const decision = decisionOf(run);
  const error = run.phase === "done" && !run.result.ok ? run.result.error.message : "";
  const text = run.phase === "broken" ? run.fault.message : `${decision} ${error}`.trim();
  const within = run.events.filter(({ type }) => type === "call.invoked").slice(1);
  return (
    <>
      {text !== "" && <p className="note wrap agent-result">{visible(text)}</p>}
      {within.length > 0 && (
        <ul className="small agent-within" aria-label="Calls within">
          {within.map(({ id, payload }) => (
            <li key={id}>
              <code>{visible(nameOf(payload))}</code>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** An edge's event is foreign. */
function nameOf(payload: unknown): string {
  if (typeof payload !== "object" || payload === null || !("tool" in payload)) return "a call";
  return typeof payload.tool === "string" ? readVersionedId(payload.tool).name : "a call";
}

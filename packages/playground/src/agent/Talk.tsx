import { type ToolSummary, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Empty } from "../ui/Notice.tsx";
import { CallCard } from "./CallCard.tsx";
import type { ConversationState, Entry } from "./conversation.ts";

interface TalkProps {
  readonly state: ConversationState;
  readonly tools: readonly ToolSummary[];
  /** The one whose calls are shown beside. */
  readonly turn: number;
  readonly onTurn: (turn: number) => void;
}

/** The conversation, with each call where the model made it. */
export function Talk({ state, tools, turn, onTurn }: TalkProps): ReactNode {
  const { entries, asked, isBusy } = state;
  const [question] = asked;
  return (
    <div className="pane agent-talk" role="log" aria-label="Conversation" aria-busy={isBusy}>
      {entries.length === 0 && (
        <Empty title="Nothing was said yet">
          <p>
            Write a message. The agent calls the tools of this kernel under its policy, and each call is a card here.
            The scripted model needs no key: it reads files, writes a note that you are asked about, and tries a host
            that nobody granted.
          </p>
        </Empty>
      )}
      {entries.map((entry) =>
        entry.by === "call" ? (
          <CallCard
            key={entry.key}
            entry={entry}
            question={question?.id === entry.id ? question : undefined}
            tools={tools}
          />
        ) : (
          <Message key={entry.key} entry={entry} isShown={entry.turn === turn} onTurn={onTurn} />
        ),
      )}
      {question === undefined && <div className="agent-newest" key={entries.length} ref={intoSight} />}
    </div>
  );
}

/** Of the newest entry, when it comes. */
function intoSight(end: HTMLElement | null): void {
  end?.scrollIntoView({ block: "nearest" });
}

const endTexts = {
  answered: "The model answered.",
  stopped: "You stopped the turn. Calls that ran were told to stop.",
  lockdown: "The kernel is in LOCKDOWN. The turn ended.",
  tokens: "The run used up its budget of tokens. Begin a new run, or give it more.",
  fuel: "The run used up its budget of fuel. Begin a new run, or give it more.",
  calls: "The run used up its budget of calls. Begin a new run, or give it more.",
  steps: "The turn had all its steps. Write again to go on.",
  failed: "The model did not answer.",
} as const satisfies Record<Extract<Entry, { by: "end" }>["end"], string>;

interface MessageProps {
  readonly entry: Exclude<Entry, { by: "call" }>;
  readonly isShown: boolean;
  readonly onTurn: (turn: number) => void;
}

function Message({ entry, isShown, onTurn }: MessageProps): ReactNode {
  if (entry.by === "end") {
    return (
      <p className="note wrap agent-end" data-end={entry.end} role={entry.end === "failed" ? "alert" : undefined}>
        {endTexts[entry.end]} {visible(entry.reason)}
      </p>
    );
  }
  return (
    <div className="stack-s shrinks agent-message" data-by={entry.by}>
      {entry.by === "you" ? (
        <button type="button" className="agent-turn" aria-pressed={isShown} onClick={() => onTurn(entry.turn)}>
          you, turn {entry.turn}
        </button>
      ) : (
        <span className="agent-by">agent</span>
      )}
      <p className="wrap pre agent-text">{visible(entry.text)}</p>
    </div>
  );
}

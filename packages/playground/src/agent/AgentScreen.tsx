import { type Mode, visible } from "@keyhole/kernel";
import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { useKey } from "../app/keys.ts";
import type { Connection } from "../app/useKernel.ts";
import type { GovernanceState } from "../client/kernel-client.ts";
import type { Approve } from "../session/calls.ts";
import { useSession } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import "./agent.css";
import { BudgetBar } from "./BudgetBar.tsx";
import { type Conversation, conversationOf, type ConversationState } from "./conversation.ts";
import { ModelForm } from "./ModelForm.tsx";
import { modelTexts } from "./models.ts";
import { Talk } from "./Talk.tsx";
import { TurnPane } from "./TurnPane.tsx";

interface AgentScreenProps {
  readonly connection: Extract<Connection, { state: "ready" }>;
  readonly governed: GovernanceState | undefined;
  /** Asks in the page's dialog, while this screen is out of sight. */
  readonly approve: Approve;
}

/** An agent that works with the tools of this kernel: the conversation, and what its calls did. */
export function AgentScreen({ connection, governed, approve }: AgentScreenProps): ReactNode {
  const { client, tools } = connection;
  const { calls } = useSession();
  const conversation = conversationOf(client, calls);
  const state = useSyncExternalStore(conversation.subscribe, conversation.state);
  const [isChoosing, setChoosing] = useState(false);
  const [turn, setTurn] = useState<number>();
  useEffect(() => conversation.use(tools), [conversation, tools]);
  useEffect(() => {
    conversation.show(undefined);
    return () => conversation.show(approve);
  }, [conversation, approve]);
  useLockdown(conversation, governed?.mode);
  useStopKey(conversation, state.isBusy);
  const shown = turn === undefined || turn > state.turn ? state.turn : turn;
  return (
    <main className="screen agent-screen" aria-label="Agent">
      <section className="column agent-chat" aria-label="Chat">
        <Head
          state={state}
          conversation={conversation}
          onModel={() => setChoosing(!isChoosing)}
          isChoosing={isChoosing}
        />
        <BudgetBar spent={state.spent} budget={state.budget} />
        {isChoosing ? (
          <ModelForm
            choice={state.choice}
            budget={state.budget}
            onChoose={(choice, budget) => {
              conversation.choose(choice, budget);
              setChoosing(false);
            }}
          />
        ) : (
          <Talk state={state} tools={tools} turn={shown} onTurn={setTurn} />
        )}
        <Say
          isBusy={state.isBusy}
          isAsked={state.asked.length > 0}
          onSend={(text) => {
            setTurn(undefined);
            void conversation.send(text);
          }}
        />
      </section>
      <TurnPane state={state} turn={shown} governed={governed} />
    </main>
  );
}

interface HeadProps {
  readonly state: ConversationState;
  readonly conversation: Conversation;
  readonly isChoosing: boolean;
  readonly onModel: () => void;
}

function Head({ state, conversation, isChoosing, onModel }: HeadProps): ReactNode {
  const { choice, isBusy, entries } = state;
  return (
    <header className="bar under screen-head agent-head">
      <h1>Agent</h1>
      <Button icon="sliders" aria-expanded={isChoosing} onPress={onModel}>
        <span className="clip agent-choice">
          {choice.kind === "scripted" ? modelTexts.scripted.name : visible(choice.model)}
        </span>
      </Button>
      <span className="space" />
      {entries.length > 0 && !isBusy && <Button onPress={() => conversation.restart()}>New run</Button>}
      <Button
        icon="stop"
        look={isBusy ? "danger" : "plain"}
        isUnavailable={!isBusy}
        aria-keyshortcuts="Escape"
        onPress={() => conversation.stop()}
      >
        Stop {isBusy && <kbd aria-hidden="true">Esc</kbd>}
      </Button>
    </header>
  );
}

function useStopKey(conversation: Conversation, isBusy: boolean): void {
  const onKeyDown = ({ key, shiftKey, defaultPrevented }: KeyboardEvent): void => {
    if (key === "Escape" && !shiftKey && !defaultPrevented) conversation.stop();
  };
  useKey(isBusy ? onKeyDown : undefined);
}

/** The header, a key and a trigger can set the mode, too. */
function useLockdown(conversation: Conversation, mode: Mode | undefined): void {
  useEffect(() => {
    if (mode === "LOCKDOWN") conversation.stop("lockdown");
  }, [conversation, mode]);
}

interface SayProps {
  readonly isBusy: boolean;
  /** A call waits for the person's answer. */
  readonly isAsked: boolean;
  readonly onSend: (text: string) => void;
}

function Say({ isBusy, isAsked, onSend }: SayProps): ReactNode {
  const [text, setText] = useState("");
  const send = (): void => {
    if (isBusy || text.trim() === "") return;
    onSend(text.trim());
    setText("");
  };
  return (
    <form
      className="over agent-say"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        className="input area"
        rows={2}
        aria-label="Message to the agent"
        placeholder={isAsked ? "A call waits for your answer" : "What should the agent do?"}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <Button type="submit" look="primary" icon="send" isUnavailable={isBusy || text.trim() === ""}>
        Send
      </Button>
    </form>
  );
}

import { visible } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { hostOf } from "../client/edge-address.ts";
import { loadEdgeSettings } from "../client/edge-settings.ts";
import type { GovernanceState, KernelClient, Place } from "../client/kernel-client.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { Segmented } from "../ui/Segmented.tsx";
import { isOpen } from "../session/call-head.ts";
import { useSession, useSessionState } from "../session/useSession.ts";
import { trustOf, trustState, trustText } from "./edge-trust.ts";
import { ModeSwitch } from "./ModeSwitch.tsx";
import { RunningCalls } from "./RunningCalls.tsx";
import { isApple } from "./keys.ts";
import { findTitle } from "./words.ts";
import type { Connection } from "./useKernel.ts";
import type { Look, Theme } from "./useTheme.ts";

interface HeaderProps {
  readonly place: Place;
  readonly onPlace: (place: Place) => void;
  readonly connection: Connection;
  readonly governed: GovernanceState | undefined;
  readonly onEdgeSettings: () => void;
  readonly onOpenCall: (id: string) => void;
  readonly onFind: () => void;
  readonly look: Look;
}

const stateTexts = {
  connecting: "Starting",
  ready: "Ready",
  failed: "Not connected",
  lost: "No answer",
} as const satisfies Record<Connection["state"] | "lost", string>;

const nextTheme = { system: "light", light: "dark", dark: "system" } as const satisfies Record<Theme, Theme>;
const themeIcons = { system: "screen", light: "sun", dark: "moon" } as const satisfies Record<Theme, IconName>;
const themeTexts = { system: "as the system", light: "light", dark: "dark" } as const satisfies Record<Theme, string>;

const places = [
  { value: "browser", text: "Browser" },
  { value: "edge", text: "Edge" },
] as const;

export function Header(props: HeaderProps): ReactNode {
  const { connection, place, onPlace, governed, look, onEdgeSettings, onOpenCall, onFind } = props;
  const [theme, setTheme] = look;
  const client = connection.state === "ready" ? connection.client : undefined;
  const isLost = useIsLost(client);
  const state = stateOf(connection, isLost);
  const edge = place === "edge" ? loadEdgeSettings() : undefined;
  const address = edge && (client?.address ?? edge.address);
  return (
    <header className="bar surface under top">
      <p className="line brand">
        <Mark isShut={governed?.mode === "LOCKDOWN"} />
        <span>Keyhole</span>
      </p>
      <Segmented label="Where the kernel runs" value={place} options={places} onChange={onPlace} />
      <output className="line hint state" data-state={state}>
        <span className="state-dot" aria-hidden="true" />
        <span className="state-text">{client?.isWatched === true ? "Watching" : stateTexts[state]}</span>
        {place === "edge" && (
          <Button onPress={onEdgeSettings} title={address && hostOf(address)}>
            {address !== undefined && <EdgeMark address={address} name={edge?.name ?? ""} />}
            <span className={address && "visually-hidden"}>Edge settings</span>
          </Button>
        )}
      </output>
      {governed !== undefined && <ModeSwitch mode={governed.mode} setMode={client?.governance?.setMode} />}
      <RunningCalls onOpen={onOpenCall} />
      <div className="top-end">
        <button
          type="button"
          className="box line muted sunken find"
          aria-keyshortcuts={isApple ? "Meta+K" : "Control+K"}
          onClick={onFind}
        >
          <Icon name="search" />
          <span>{findTitle}</span>
          <kbd aria-hidden="true">{isApple ? "⌘ K" : "Ctrl K"}</kbd>
        </button>
        <IconButton
          icon={themeIcons[theme]}
          label={`Colours: ${themeTexts[theme]}. Change to ${themeTexts[nextTheme[theme]]}`}
          onPress={() => setTheme(nextTheme[theme])}
        />
      </div>
    </header>
  );
}

const trustWords = {
  none: "no answer yet",
  matched: "answers match",
  unchecked: "not verified",
  broken: "broken answers",
} as const satisfies Record<ReturnType<typeof trustState>, string>;

/** The edge: its name, its host always, and what its answers were worth. */
function EdgeMark({ address, name }: { readonly address: string; readonly name: string }): ReactNode {
  const { heads } = useSessionState();
  const trust = trustOf(heads, address);
  const state = trustState(trust);
  return (
    <>
      {name !== "" && <b className="state-name">{visible(name)}</b>}
      <code>{hostOf(address)}</code>
      <span className="hint edge-trust" data-trust={state} title={trustText(trust)}>
        {trustWords[state]}
      </span>
    </>
  );
}

/** The keyhole in its wall; in LOCKDOWN the wall has none. */
function Mark({ isShut }: { readonly isShut: boolean }): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {isShut ? (
        <path className="mark-shut" strokeWidth="3" d="M12 0v24" />
      ) : (
        <>
          <path className="mark-wall" strokeWidth="2.5" d="M12 0v5.2M12 18.8V24" />
          <path className="mark-hole" d="M12 5.2a4 4 0 0 1 1.9 7.5l1.3 6.1H8.8l1.3-6.1A4 4 0 0 1 12 5.2Z" />
          <path className="mark-ray" strokeWidth="2" d="M12 9.2h12" />
        </>
      )}
    </svg>
  );
}

function stateOf(connection: Connection, isLost: boolean): keyof typeof stateTexts {
  if (connection.state !== "ready") return connection.state;
  return connection.isStarting ? "connecting" : isLost ? "lost" : "ready";
}

/** Whether the last call of this tab had no answer. A new connection begins without one. */
function useIsLost(client: KernelClient | undefined): boolean {
  const { calls } = useSession();
  const { heads } = useSessionState();
  const last = heads.find(({ id, state }) => calls.isOwn(id) && !isOpen(state));
  const [before, setBefore] = useState({ client, id: last?.id });
  if (before.client !== client) setBefore({ client, id: last?.id });
  return last?.state === "broken" && last.id !== before.id;
}

import { readVersionedId, visible } from "@keyhole/kernel";
import { screensOf } from "../app/Rail.tsx";
import type { BenchRoute, Route } from "../app/route.ts";
import type { Connection } from "../app/useKernel.ts";
import { type Look, themes } from "../app/useTheme.ts";
import type { GovernanceState, Place } from "../client/kernel-client.ts";
import { type CallHead, isOpen } from "../session/call-head.ts";
import type { Session } from "../session/browser-session.ts";
import type { Find } from "./find.ts";

export interface ActionProps {
  readonly connection: Connection;
  readonly governed: GovernanceState | undefined;
  readonly place: Place;
  readonly onPlace: (place: Place) => void;
  readonly route: Route;
  readonly bench: BenchRoute;
  readonly look: Look;
  readonly onSettings: (settings: "edge" | "search") => void;
  readonly onGo: (route: Route) => void;
}

/** The screens of the rail. */
export function screenFinds({ route, bench, onGo }: ActionProps): readonly Find[] {
  return screensOf(route, bench).map(({ name, to }, at) => ({
    id: `screen ${name}`,
    text: name,
    hint: `Alt ${at + 1}`,
    act: () => onGo(to),
  }));
}

interface Around {
  readonly calls: Session["calls"];
  readonly heads: readonly CallHead[];
  /** For a screen reader, and for nobody else. */
  readonly announce: (text: string) => void;
}

/** The actions that a press does elsewhere on the page, too. */
export function actionsOf(props: ActionProps, around: Around): readonly Find[] {
  return [...modeActions(props, around), ...killActions(around), ...placeActions(props), ...lookActions(props)];
}

function modeActions({ connection, governed }: ActionProps, { announce }: Around): readonly Find[] {
  const setMode = connection.state === "ready" ? connection.client.governance?.setMode : undefined;
  if (setMode === undefined || governed === undefined) return [];
  const isLocked = governed.mode === "LOCKDOWN";
  const next = isLocked ? "NORMAL" : "LOCKDOWN";
  return [
    {
      id: "mode",
      text: isLocked ? "Back to NORMAL" : "LOCKDOWN",
      hint: isLocked ? "" : "⇧ Esc",
      act: () =>
        void setMode(next, "Set by a person in the playground").then(
          () => announce(`The mode is now ${next}`),
          (error: unknown) => announce(`The mode was not changed: ${String(error)}`),
        ),
    },
  ];
}

function killActions({ calls, heads }: Around): readonly Find[] {
  return heads
    .filter(({ id, state }) => isOpen(state) && calls.isOwn(id))
    .map(({ id, tool, what }) => ({
      id: `kill ${id}`,
      text: `Kill ${visible(readVersionedId(tool).name)}`,
      hint: visible(what.slice(0, 40)),
      act: () => calls.cancel(id),
    }));
}

function placeActions({ place, onPlace, onSettings }: ActionProps): readonly Find[] {
  return [
    place === "browser"
      ? { id: "place", text: "Use the edge", hint: "", act: () => onPlace("edge") }
      : { id: "place", text: "Use the kernel of this page", hint: "", act: () => onPlace("browser") },
    { id: "edge", text: "Edge settings", hint: "address, token", act: () => onSettings("edge") },
    ...(place === "browser"
      ? [{ id: "search", text: "Web search settings", hint: "web_search", act: () => onSettings("search") }]
      : []),
  ];
}

function lookActions({ look: [theme, setTheme] }: ActionProps): readonly Find[] {
  return themes
    .filter((each) => each !== theme)
    .map((each) => ({
      id: `colours ${each}`,
      text: `Colours: ${each === "system" ? "as the system" : each}`,
      hint: "",
      act: () => setTheme(each),
    }));
}

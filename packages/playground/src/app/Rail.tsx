import type { ReactNode } from "react";
import { useSessionFact } from "../session/useSession.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { useKey } from "./keys.ts";
import { type BenchRoute, type Route, type ScreenName, screenNames, screenRoute, writeRoute } from "./route.ts";
import type { Go } from "./useRoute.ts";

interface RailProps {
  readonly route: Route;
  /** The call that the workbench shows, or showed last. */
  readonly bench: BenchRoute;
  readonly go: Go;
}

interface Screen {
  readonly name: string;
  readonly icon: IconName;
  readonly isHere: boolean;
  readonly to: Route;
}

/** The screens. Alt and a digit lead to each, in this order. */
export function Rail({ route, bench, go }: RailProps): ReactNode {
  const screens = screensOf(route, bench);
  const waiting = useSessionFact(({ heads }) => heads.filter(({ state }) => state === "asks").length);
  useScreenKeys((index) => {
    const screen = screens[index];
    if (screen !== undefined) go(screen.to);
  });
  return (
    <nav className="rail" aria-label="Screens">
      <ul>
        {screens.map(({ name, icon, isHere, to }, index) => (
          <li key={name}>
            <a
              className="plain-list rail-item"
              title={`${name} (Alt ${index + 1})`}
              href={writeRoute(to)}
              aria-current={isHere ? "page" : undefined}
            >
              <Icon name={icon} />
              <span className="rail-name">{name}</span>
              {name === looks.approvals.name && waiting > 0 && (
                <span className="rail-count" title={`${waiting} waiting`}>
                  {waiting}
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

export function screensOf(route: Route, bench: BenchRoute): readonly Screen[] {
  const isTimeline = route.kind === "timeline";
  const timeline: Route = { kind: "timeline", id: bench.kind === "call" ? bench.id : undefined };
  return [
    { name: "Call", icon: "call", isHere: !isTimeline && route.kind !== "screen", to: bench },
    { name: "Timeline", icon: "timeline", isHere: isTimeline, to: isTimeline ? route : timeline },
    ...screenNames.map((name): Screen => ({
      ...looks[name],
      isHere: route.kind === "screen" && route.name === name,
      to: screenRoute(name),
    })),
  ];
}

const looks = {
  approvals: { name: "Decide", icon: "decide" },
  policy: { name: "Policy", icon: "shield" },
  build: { name: "Build", icon: "build" },
  agent: { name: "Agent", icon: "agent" },
  replay: { name: "Replay", icon: "replay" },
} as const satisfies Record<ScreenName, Pick<Screen, "name" | "icon">>;

function useScreenKeys(open: (index: number) => void): void {
  useKey((event) => {
    const { altKey, ctrlKey, metaKey, code } = event;
    const digit = /^Digit([1-9])$/.exec(code)?.[1];
    if (!altKey || ctrlKey || metaKey || digit === undefined) return;
    if (document.querySelector("[role=dialog], [role=alertdialog]") !== null) return;
    event.preventDefault();
    open(Number(digit) - 1);
  });
}

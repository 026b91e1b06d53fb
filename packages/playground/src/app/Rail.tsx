import { type ReactNode, useEffect } from "react";
import { Icon, type IconName } from "../ui/icons.tsx";
import type { BenchRoute, Route } from "./route.ts";
import { writeRoute } from "./route.ts";
import type { Go } from "./useRoute.ts";

interface RailProps {
  readonly route: Route;
  /** What the workbench shows, or showed last. */
  readonly bench: BenchRoute;
  readonly go: Go;
  readonly onPolicy: () => void;
}

interface Screen {
  readonly name: string;
  readonly icon: IconName;
  readonly isHere: boolean;
  /** Where it leads; absent for what opens over the screen. */
  readonly to?: Route;
}

/** The screens. Alt and a digit lead to each, in this order. */
export function Rail({ route, bench, go, onPolicy }: RailProps): ReactNode {
  const screens = screensOf(route, bench);
  const open = ({ to }: Screen): void => (to === undefined ? onPolicy() : go(to));
  useScreenKeys((index) => {
    const screen = screens[index];
    if (screen !== undefined) open(screen);
  });
  return (
    <nav className="rail" aria-label="Screens">
      <ul>
        {screens.map((screen, index) => {
          const { name, icon, isHere, to } = screen;
          const content = (
            <>
              <Icon name={icon} />
              <span className="rail-name">{name}</span>
            </>
          );
          return (
            <li key={name}>
              {to === undefined ? (
                <button type="button" className="rail-item" title={`${name} (Alt ${index + 1})`} onClick={onPolicy}>
                  {content}
                </button>
              ) : (
                <a
                  className="rail-item"
                  title={`${name} (Alt ${index + 1})`}
                  href={writeRoute(to)}
                  aria-current={isHere ? "page" : undefined}
                >
                  {content}
                </a>
              )}
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function screensOf(route: Route, bench: BenchRoute): readonly Screen[] {
  const isTimeline = route.kind === "timeline";
  const timeline: Route = { kind: "timeline", id: bench.kind === "call" ? bench.id : undefined };
  return [
    { name: "Call", icon: "call", isHere: !isTimeline, to: bench },
    { name: "Timeline", icon: "timeline", isHere: isTimeline, to: isTimeline ? route : timeline },
    { name: "Policy", icon: "shield", isHere: false },
  ];
}

function useScreenKeys(open: (index: number) => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { altKey, ctrlKey, metaKey, code } = event;
      const digit = /^Digit([1-9])$/.exec(code)?.[1];
      if (!altKey || ctrlKey || metaKey || digit === undefined) return;
      if (document.querySelector("[role=dialog], [role=alertdialog]") !== null) return;
      event.preventDefault();
      open(Number(digit) - 1);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}

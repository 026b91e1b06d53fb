import { parseUrl } from "@keyhole/kernel";
import type { ReactNode } from "react";
import type { Place } from "../client/kernel-client.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { Segmented } from "../ui/Segmented.tsx";
import type { Connection } from "./useKernel.ts";
import { type Theme, useTheme } from "./useTheme.ts";

interface HeaderProps {
  readonly place: Place;
  readonly onPlace: (place: Place) => void;
  /** Origin of the edge, where one is set up. */
  readonly address: string | undefined;
  readonly state: Connection["state"];
  readonly onPolicy: () => void;
  readonly onEdgeSettings: () => void;
}

const stateTexts = { connecting: "Starting", ready: "Ready", failed: "Not connected" } as const satisfies Record<
  Connection["state"],
  string
>;

const nextTheme = { system: "light", light: "dark", dark: "system" } as const satisfies Record<Theme, Theme>;
const themeIcons = { system: "screen", light: "sun", dark: "moon" } as const satisfies Record<Theme, IconName>;
const themeTexts = { system: "as the system", light: "light", dark: "dark" } as const satisfies Record<Theme, string>;

const places = [
  { value: "browser", text: "Browser" },
  { value: "edge", text: "Edge" },
] as const;

export function Header({ place, onPlace, address, state, onPolicy, onEdgeSettings }: HeaderProps): ReactNode {
  const [theme, onTheme] = useTheme();
  return (
    <header className="top">
      <h1 className="brand">
        <Icon name="keyhole" />
        <span>Keyhole</span>
      </h1>
      <Segmented label="Where the kernel runs" value={place} options={places} onChange={onPlace} />
      <output className="state" data-state={state}>
        <span className="state-dot" aria-hidden="true" />
        <span className="state-text">{stateTexts[state]}</span>
        {address !== undefined && <code className="state-address">{parseUrl(address)?.host ?? address}</code>}
      </output>
      <div className="top-end">
        {place === "edge" && (
          <Button look="quiet" onPress={onEdgeSettings}>
            Edge settings
          </Button>
        )}
        <Button look="quiet" icon="shield" onPress={onPolicy}>
          Policy
        </Button>
        <IconButton
          icon={themeIcons[theme]}
          label={`Colours: ${themeTexts[theme]}. Change to ${themeTexts[nextTheme[theme]]}`}
          onPress={() => onTheme(nextTheme[theme])}
        />
      </div>
    </header>
  );
}

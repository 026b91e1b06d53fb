import { useEffect, useState } from "react";
import { saved, type SavedKey } from "../client/saved.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** The colours that hold, and the way to change them. */
export type Look = readonly [Theme, (theme: Theme) => void];

const key: SavedKey = { area: "local", key: "keyhole.theme", what: "the colours" };

function stored(): Theme {
  const value = saved.read(key);
  return themes.find((theme) => theme === value) ?? "system";
}

/** The style sheet reads `data-theme`; without it the system decides. */
export function useTheme(): Look {
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  const choose = (next: Theme): void => {
    setTheme(next);
    saved.write(key, next === "system" ? undefined : next);
  };
  return [theme, choose];
}

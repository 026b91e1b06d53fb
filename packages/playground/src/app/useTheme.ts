import { useEffect, useState } from "react";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const key = "keyhole.theme";

function stored(): Theme {
  const value = localStorage.getItem(key);
  return themes.find((theme) => theme === value) ?? "system";
}

/** The style sheet reads `data-theme`; without it the system decides. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    if (theme === "system") {
      delete document.documentElement.dataset["theme"];
      localStorage.removeItem(key);
    } else {
      document.documentElement.dataset["theme"] = theme;
      localStorage.setItem(key, theme);
    }
  }, [theme]);
  return [theme, setTheme];
}

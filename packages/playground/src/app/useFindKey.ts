import { useEffect } from "react";

export const findTitle = "Tools, calls, hashes, actions";

/** Command takes the place of Control there: Control and K delete to the end of a line. */
export const isApple: boolean = /Mac|iP(?:hone|ad)/.test(navigator.userAgent);

/** Control (or Command) and K open the search, from a field too, unless a dialog is open. */
export function useFindKey(onFind: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
      if (key !== "k" || altKey || shiftKey || !(isApple ? metaKey && !ctrlKey : ctrlKey && !metaKey)) return;
      if (document.querySelector("[role=dialog], [role=alertdialog]") !== null) return;
      event.preventDefault();
      onFind();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}

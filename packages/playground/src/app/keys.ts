import { useLayoutEffect } from "react";

const keepers = "input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog]";

/** Whether a key belongs to the field, the editor or the dialog that has the focus, and not to the page. An editor has a shadow tree of its own. */
export function isKeyOfField(event: Event): boolean {
  return event.composedPath().some((each) => each instanceof Element && each.matches(keepers));
}

/** A key, wherever the focus is. @param listener the one of the last drawing hears; `undefined`: nothing hears */
export function useKey(listener: ((event: KeyboardEvent) => void) | undefined, capture: boolean = false): void {
  useLayoutEffect(() => {
    if (listener === undefined) return undefined;
    document.addEventListener("keydown", listener, { capture });
    return () => document.removeEventListener("keydown", listener, { capture });
  });
}

/** Command takes the place of Control there: Control and K delete to the end of a line. */
export const isApple: boolean = /Mac|iP(?:hone|ad)/.test(navigator.userAgent);

/** Control (or Command) and K open the search, from a field too, unless a dialog is open. */
export function useFindKey(onFind: () => void): void {
  useKey((event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (key !== "k" || altKey || shiftKey || !(isApple ? metaKey && !ctrlKey : ctrlKey && !metaKey)) return;
    if (document.querySelector("[role=dialog], [role=alertdialog]") !== null) return;
    event.preventDefault();
    onFind();
  });
}

/** One key outside of a field, unless a dialog is open. */
export function usePlainKey(wanted: string, act: () => void): void {
  useKey((event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (key !== wanted || ctrlKey || metaKey || altKey || event.defaultPrevented || isKeyOfField(event)) return;
    event.preventDefault();
    act();
  });
}

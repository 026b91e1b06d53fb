import { useLayoutEffect, useRef } from "react";
import { isKeyOfField } from "./key-of-field.ts";

/** `/` outside of a field goes to the search, unless a dialog is open. */
export function useSearchKey(onSearch: () => void): void {
  const latest = useRef(onSearch);
  useLayoutEffect(() => {
    latest.current = onSearch;
  });
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if (key !== "/" || ctrlKey || metaKey || altKey || event.defaultPrevented) return;
      if (isKeyOfField(event)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

import { visible } from "@keyhole/kernel";
import { type FocusEvent, type RefObject, useCallback, useState } from "react";

export interface Link {
  /** JSON Pointer of the field that a person is at; empty for none. */
  readonly linked: string;
  /** A field got the focus. */
  readonly onFocus: (event: FocusEvent) => void;
  /** The caret moved in the JSON. */
  readonly onCaret: (pointer: string) => void;
}

/** The field and the line of the same value, marked beside each other. */
export function useLink(form: RefObject<HTMLElement | null>): Link {
  const [linked, setLinked] = useState("");
  const mark = useCallback(
    (pointer: string): Element | undefined => {
      let found: Element | undefined;
      for (const field of form.current?.querySelectorAll("[data-path]") ?? []) {
        const isIt = pointer !== "" && field.getAttribute("data-path") === visible(pointer);
        field.toggleAttribute("data-linked", isIt);
        if (isIt) found = field;
      }
      return found;
    },
    [form],
  );
  return {
    linked,
    onFocus: ({ target }) => {
      const pointer = target.closest("[data-path]")?.getAttribute("data-path") ?? "";
      mark("");
      setLinked(pointer);
    },
    onCaret: (pointer) => {
      mark(pointer)?.scrollIntoView({ block: "nearest" });
      setLinked(pointer);
    },
  };
}

import { type RefObject, useEffect, useRef, useState } from "react";
import type { Press } from "../ui/press.ts";

export type Armed = "once" | "session";

interface QuestionKeys {
  /** Takes the focus when a key arms an answer: on a button, Enter would press that button. */
  readonly heading: RefObject<HTMLElement | null>;
  /** Acts on a deliberate press of a key. */
  readonly guard: (act: () => void) => (press: Press) => void;
  readonly deny: () => void;
  readonly edit: () => void;
  /** Absent where this answer is impossible for now. */
  readonly allow: Partial<Readonly<Record<Armed, () => void>>>;
}

const arming: Readonly<Record<string, Armed>> = { a: "once", s: "session" };

/**
 * The keys of a question: D denies, E edits, A and S choose what Enter then allows. Two presses allow, never a held key, and no key in a field.
 *
 * @returns the answer that Enter would give now
 */
export function useQuestionKeys(keys: QuestionKeys): Armed | undefined {
  const latest = useRef(keys);
  const armed = useRef<Armed>(undefined);
  const [shown, setShown] = useState<Armed>();
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const arm = (next: Armed | undefined): void => {
      armed.current = next;
      setShown(next);
    };
    const onKeyDown = (event: KeyboardEvent): void => {
      const { heading, guard, deny, edit, allow } = latest.current;
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
      if (isBehind(heading.current)) return;
      const act = (work: () => void): void => {
        event.preventDefault();
        guard(work)({ device: "keyboard" });
      };
      const key = event.key.toLowerCase();
      const wanted = Object.hasOwn(arming, key) ? arming[key] : undefined;
      if (wanted !== undefined && allow[wanted] !== undefined)
        return act(() => {
          heading.current?.focus();
          arm(wanted);
        });
      const chosen = armed.current;
      arm(undefined);
      if (key === "enter" && chosen !== undefined) return act(() => allow[chosen]?.());
      if (key === "d") return act(deny);
      if (key === "e") return act(edit);
      return undefined;
    };
    // A press anywhere else means something else.
    const disarm = (): void => arm(undefined);
    document.addEventListener("keydown", onKeyDown);
    document.addEventListener("pointerdown", disarm, { capture: true });
    return () => {
      document.removeEventListener("keydown", onKeyDown);
      document.removeEventListener("pointerdown", disarm, { capture: true });
    };
  }, []);
  return shown;
}

/** A dialog stands over the question, and the keys are for that. */
function isBehind(element: HTMLElement | null): boolean {
  const dialogs = document.querySelectorAll("[role=dialog], [role=alertdialog]");
  return dialogs.length > 0 && !Array.from(dialogs).some((dialog) => dialog.contains(element));
}

/** A letter there is text, or a way through a list. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest("input:not([type=radio]), textarea, select, [contenteditable]") !== null
  );
}

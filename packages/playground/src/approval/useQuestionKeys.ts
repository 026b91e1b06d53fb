import { type RefObject, useEffect, useRef, useState } from "react";
import type { Press } from "../ui/press.ts";
import { AnswerKeys, type Armed } from "./answer-keys.ts";
import type { Deliberate } from "./useDeliberate.ts";

interface QuestionKeys {
  /** Takes the focus when a key arms an answer: on a button, Enter would press that button. */
  readonly heading: RefObject<HTMLElement | null>;
  readonly deliberate: Pick<Deliberate, "isReady" | "guard" | "restart">;
  readonly deny: () => void;
  readonly edit: () => void;
  /** Absent where this answer is impossible for now. */
  readonly allow: Partial<Readonly<Record<Armed, () => void>>>;
}

export interface KeyState {
  /** The answer that Enter would give now. */
  readonly armed: Armed | undefined;
  /** The keys count now. */
  readonly isTurned: boolean;
}

const keyboard: Press = { device: "keyboard" };

/**
 * The keys of a question: D denies, E edits, A and S choose what Enter then allows. Two presses allow, never a held key, and no key in a field. They count after the person
 * turned to the question: see {@link AnswerKeys}.
 */
export function useQuestionKeys(keys: QuestionKeys): KeyState {
  const latest = useRef(keys);
  const [shown, setShown] = useState<KeyState>({ armed: undefined, isTurned: false });
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => listen(latest, setShown), []);
  return shown;
}

/** @returns ends it */
function listen(latest: RefObject<QuestionKeys>, show: (state: KeyState) => void): () => void {
  const answer = new AnswerKeys();
  const tell = (): void => show({ armed: answer.armed, isTurned: answer.isTurned });
  let hasPressedTab = false;
  const turn = (): void => {
    if (latest.current.deliberate.isReady) answer.turn();
    tell();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { heading, deliberate, deny, edit, allow } = latest.current;
    hasPressedTab = event.key === "Tab";
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
    if (isBehind(heading.current) || isPress(event)) return;
    const wanted = answer.press(event.key, (each) => allow[each] !== undefined);
    tell();
    if (wanted === "typed") return deliberate.restart();
    if (wanted === undefined) return undefined;
    event.preventDefault();
    if (wanted === "arm") return heading.current?.focus();
    const act = wanted === "deny" ? deny : wanted === "edit" ? edit : allow[wanted];
    return deliberate.guard(() => act?.())(keyboard);
  };
  const onFocus = ({ target }: FocusEvent): void => {
    const { heading } = latest.current;
    // The page gives the focus to the heading by itself.
    if (hasPressedTab && target !== heading.current && isInside(heading.current, target)) turn();
  };
  const onPointerDown = ({ target }: PointerEvent): void => {
    if (isInside(latest.current.heading.current, target)) return turn();
    answer.leave();
    return tell();
  };
  const ends = new AbortController();
  const options = { capture: true, signal: ends.signal } as const;
  document.addEventListener("keydown", onKeyDown, options);
  document.addEventListener("focusin", onFocus, options);
  document.addEventListener("pointerdown", onPointerDown, options);
  return () => ends.abort();
}

/** In the dialog, or on the screen that has the question: the list of questions belongs to it. */
function isInside(heading: HTMLElement | null, target: EventTarget | null): boolean {
  const place = heading?.closest("[role=dialog], [role=alertdialog], .approvals-bench");
  return target instanceof Node && place?.contains(target) === true;
}

/** A dialog stands over the question, and the keys are for that. */
function isBehind(element: HTMLElement | null): boolean {
  const dialogs = document.querySelectorAll("[role=dialog], [role=alertdialog]");
  return dialogs.length > 0 && !Array.from(dialogs).some((dialog) => dialog.contains(element));
}

/** Enter and Space press the button that has the focus. */
function isPress({ key, target }: KeyboardEvent): boolean {
  return (key === "Enter" || key === " ") && target instanceof Element && target.closest(controls) !== null;
}

const controls = "button, a, summary, input, [role=button], [role=option]";

/** A letter there is text, or a way through a list. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest("input:not([type=radio]), textarea, select, [contenteditable]") !== null
  );
}

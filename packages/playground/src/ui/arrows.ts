import type { KeyboardEvent } from "react";

type Step = (at: number, count: number) => number;

const steps: ReadonlyMap<string, Step> = new Map<string, Step>([
  ["ArrowRight", (at, count) => (at + 1) % count],
  ["ArrowDown", (at, count) => (at + 1) % count],
  ["ArrowLeft", (at, count) => (at + count - 1) % count],
  ["ArrowUp", (at, count) => (at + count - 1) % count],
  ["Home", () => 0],
  ["End", (_, count) => count - 1],
]);

/** Arrow keys within a set of controls that is one stop of the Tab key. @returns the place to go to */
export function arrowTo(event: KeyboardEvent, at: number, count: number): number | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return undefined;
  const to = steps.get(event.key)?.(at, count);
  if (to !== undefined) event.preventDefault();
  return to;
}

/** The child with this place gets the focus. */
export function focusChild(parent: Element | null, at: number): void {
  const child = parent?.children[at];
  if (child instanceof HTMLElement) child.focus();
}

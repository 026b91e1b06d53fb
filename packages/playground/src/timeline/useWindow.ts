import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import type { Window } from "./view.ts";

const whole: Window = { from: 0, to: 1 };
/** Of the whole axis: further in, numbers lose their meaning. */
export const leastWindow = 1e-5;

/** Within the axis, and at least {@link leastWindow} wide. */
export function clamped(from: number, to: number): Window {
  const width = Math.min(1, Math.max(leastWindow, Math.abs(to - from)));
  const middle = (from + to) / 2;
  const start = Math.max(0, Math.min(1 - width, middle - width / 2));
  return { from: start, to: start + width };
}

/** The change of the window by a key. */
const keys: Readonly<Record<string, (window: Window) => Window>> = {
  "+": ({ from, to }) => clamped(from + (to - from) / 4, to - (to - from) / 4),
  "=": ({ from, to }) => clamped(from + (to - from) / 4, to - (to - from) / 4),
  "-": ({ from, to }) => clamped(from - (to - from) / 2, to + (to - from) / 2),
  ArrowLeft: (window) => moved(window, -1 / 4),
  ArrowRight: (window) => moved(window, 1 / 4),
  Home: () => whole,
  "0": () => whole,
};

function moved({ from, to }: Window, by: number): Window {
  const width = to - from;
  return clamped(from + width * by, to + width * by);
}

interface ZoomKeys {
  readonly window: Window;
  readonly reset: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void;
  readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void;
  readonly onPointerUp: (event: PointerEvent<HTMLElement>) => void;
}

/** The shown part of the time: dragged in the strip, or set by keys. */
export function useWindow(): ZoomKeys {
  const [window, setWindow] = useState(whole);
  const begun = useRef<number>(undefined);
  const shareOf = ({ currentTarget, clientX }: PointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return width > 0 ? Math.max(0, Math.min(1, (clientX - left) / width)) : 0;
  };
  return {
    window,
    reset: () => setWindow(whole),
    onKeyDown(event) {
      const change = keys[event.key];
      if (change === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      setWindow(change);
    },
    onPointerDown(event) {
      event.currentTarget.setPointerCapture(event.pointerId);
      begun.current = shareOf(event);
    },
    onPointerMove(event) {
      const from = begun.current;
      const to = shareOf(event);
      // A press that hardly moves is a press.
      if (from !== undefined && Math.abs(to - from) > 0.005) setWindow(clamped(from, to));
    },
    onPointerUp() {
      begun.current = undefined;
    },
  };
}

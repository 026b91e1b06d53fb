import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { Press } from "../ui/press.ts";
import { DeadTime } from "./dead-time.ts";

export interface Deliberate {
  /** `false` during the dead time. */
  readonly isReady: boolean;
  /** The button ignored a press because the mouse had not moved. */
  readonly isResting: boolean;
  /** Acts on a deliberate press, and ignores any other. */
  readonly guard: (act: () => void) => (press: Press) => void;
  /** The dead time starts again: the person types to another field. */
  readonly restart: () => void;
}

/**
 * For buttons that grant something and appear unasked. It starts with the component.
 *
 * @param resting takes the focus after an ignored press: on the button, the next Enter would grant
 */
export function useDeliberate(resting: RefObject<HTMLElement | null>): Deliberate {
  const [dead] = useState(() => new DeadTime(performance.now()));
  const [isReady, setReady] = useState(false);
  const [isResting, setResting] = useState(false);
  const again = useRef<() => void>(undefined);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (): void => {
      clearTimeout(timer);
      const leftMs = dead.leftMs(performance.now());
      setReady(leftMs === 0);
      if (leftMs > 0) timer = setTimeout(wait, Math.ceil(leftMs));
    };
    const ends = new AbortController();
    const on = (target: EventTarget, types: readonly string[], act: (event: Event) => void): void => {
      for (const type of types) target.addEventListener(type, act, { capture: true, signal: ends.signal });
    };
    on(document, ["pointerdown", "keydown"], () => {
      dead.disturb(performance.now());
      wait();
    });
    on(document, ["click"], (event) => {
      if (isPointerOutside(event) && dead.leftMs(performance.now()) > 0) afterwards(() => resting.current?.focus());
    });
    on(document, ["pointermove"], (event) => {
      if (!(event instanceof PointerEvent) || (event.movementX === 0 && event.movementY === 0)) return;
      dead.move(performance.now());
      setResting(false);
    });
    const restart = (): void => {
      dead.restart(performance.now());
      wait();
    };
    again.current = restart;
    on(document, ["visibilitychange"], restart);
    // Captured events of elements inside the window come by as well.
    on(window, ["focus", "blur", "resize"], ({ target }) => target === window && restart());
    wait();
    return () => {
      clearTimeout(timer);
      ends.abort();
    };
  }, [dead, resting]);

  const guard = useCallback(
    (act: () => void) =>
      ({ device }: Press): void => {
        if (dead.allows(device, performance.now())) act();
        else {
          setResting(dead.leftMs(performance.now()) === 0);
          afterwards(() => resting.current?.focus());
        }
      },
    [dead, resting],
  );
  const restart = useCallback(() => again.current?.(), []);
  return { isReady, isResting, guard, restart };
}

/** A pointer's click, but for fields: a person who gives a reason writes in it at once. */
function isPointerOutside(event: Event): boolean {
  if (!(event instanceof PointerEvent) || event.pointerType === "") return false;
  return !(event.target instanceof Element && event.target.closest("input, textarea, label"));
}

/** The press itself moves the focus to its button, before or after its events. */
function afterwards(act: () => void): void {
  setTimeout(act);
}

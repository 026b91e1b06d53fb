import type { ArgumentRow } from "@keyhole/kernel/policy";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";

export interface Seen {
  /** Rows whose end was not in sight yet. */
  readonly left: number;
  /** Stands behind the last character of a value. */
  readonly end: (name: string) => ReactNode;
}

/** Tracks the ends of values that were in sight, also by scrolling. What a bar covers is not in sight. */
export function useSeen(rows: readonly ArgumentRow[]): Seen {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  const see = useCallback((name: string) => setNames((before) => new Set(before).add(name)), []);
  const end = useCallback((name: string) => <End name={name} onSeen={see} />, [see]);
  return { left: rows.filter(({ name }) => !names.has(name)).length, end };
}

interface EndProps {
  readonly name: string;
  readonly onSeen: (name: string) => void;
}

function End({ name, onSeen }: EndProps): ReactNode {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const { current } = place;
    if (!current) return undefined;
    const look = (): void => {
      const { x, y, width, height } = current.getBoundingClientRect();
      const top = document.elementFromPoint(x + width / 2, y + height / 2);
      if (top !== null && current.parentElement?.contains(top) === true) onSeen(name);
    };
    const observer = new IntersectionObserver(look);
    observer.observe(current);
    document.addEventListener("scroll", look, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      document.removeEventListener("scroll", look, { capture: true });
    };
  }, [name, onSeen]);
  return <span className="seen-end" ref={place} aria-hidden="true" />;
}

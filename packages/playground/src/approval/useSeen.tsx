import type { ArgumentRow } from "@keyhole/kernel/policy";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";

export interface Seen {
  /** Rows whose end was not in sight yet. */
  readonly left: number;
  /** Stands behind the last character of a value. */
  readonly end: (name: string) => ReactNode;
}

/** Tracks the ends of values that were in sight, also by scrolling. */
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
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) onSeen(name);
    });
    if (place.current) observer.observe(place.current);
    return () => observer.disconnect();
  }, [name, onSeen]);
  return <span className="seen-end" ref={place} aria-hidden="true" />;
}

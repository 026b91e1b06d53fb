import type { ReactNode } from "react";

export type Tone = "neutral" | "accent" | "good" | "warn" | "bad";

export function Badge({
  tone = "neutral",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}

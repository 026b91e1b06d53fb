import type { ReactNode } from "react";
import { Icon } from "./icons.tsx";
import { visible } from "@keyhole/kernel";

interface NoticeProps {
  readonly tone: "bad" | "warn" | "neutral";
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** Said at once by a screen reader. */
  readonly urgent?: boolean;
}

export function Notice({ tone, title, children, actions, urgent = false }: NoticeProps): ReactNode {
  return (
    <div className="notice" data-tone={tone} role={urgent ? "alert" : undefined}>
      <Icon name={tone === "neutral" ? "shield" : "alert"} />
      <div className="stack-m wrap">
        <p className="notice-title">{visible(title)}</p>
        {children}
        {actions !== undefined && <div className="bar notice-actions">{actions}</div>}
      </div>
    </div>
  );
}

/** The message of a fault, and what a person can do. */
export function FaultNotice({
  fault,
}: {
  readonly fault: { readonly message: string; readonly hint: string };
}): ReactNode {
  return (
    <Notice tone="bad" title={fault.message} urgent>
      <p>{visible(fault.hint)}</p>
    </Notice>
  );
}

interface EmptyProps {
  readonly title: string;
  /** Above the title. */
  readonly picture?: ReactNode;
  readonly children?: ReactNode;
}

export function Empty({ title, picture, children }: EmptyProps): ReactNode {
  return (
    <div className="stack-s muted empty">
      {picture}
      <p className="empty-title">{visible(title)}</p>
      {children}
    </div>
  );
}

export function Loading({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <output className="line muted loading">
      <span className="spinner" aria-hidden="true" />
      {children}
    </output>
  );
}

import { visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { CopyButton } from "./CopyButton.tsx";

interface FactProps {
  readonly name: string;
  readonly children: ReactNode;
}

/** A name and its value, in a list of them. */
export function Fact({ name, children }: FactProps): ReactNode {
  return (
    <>
      <dt className="muted">{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

interface HashFactProps {
  readonly name: string;
  readonly hash: string;
  /** The name of the digest for a copy of it, such as "the package hash"; without it nothing copies. */
  readonly what?: string;
  readonly children?: ReactNode;
}

export function HashFact({ name, hash, what, children }: HashFactProps): ReactNode {
  return (
    <>
      <dt>{name}</dt>
      <dd className="hash">
        <code>{visible(hash)}</code>
        {what !== undefined && <CopyButton text={hash} what={what} />}
        {children}
      </dd>
    </>
  );
}

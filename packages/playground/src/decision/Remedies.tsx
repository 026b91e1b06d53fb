import { type JsonValue, visible } from "@keyhole/kernel";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { faultOf, type Governance } from "../client/kernel-client.ts";
import { useAnnounce } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import type { Remedy } from "./remedies.ts";

interface RemedyCardProps {
  readonly remedy: Remedy;
  /** Absent where the policy is read-only. */
  readonly setPolicy: Governance["setPolicy"];
}

/** One change of the policy, as its difference, with the press that makes it. */
export function RemedyCard({ remedy, setPolicy }: RemedyCardProps): ReactNode {
  const { title, reach, member, added, document } = remedy;
  const announce = useAnnounce();
  const [fault, setFault] = useState("");
  const done = useRef<HTMLOutputElement>(null);
  const isDone = document === undefined;
  useEffect(() => {
    // The button had the focus and has left: the keyboard continues from here.
    if (isDone && globalThis.document.activeElement === globalThis.document.body) done.current?.focus();
  }, [isDone]);
  const apply = async (): Promise<void> => {
    try {
      const answer = await setPolicy?.(document as unknown as JsonValue);
      if (answer?.ok === false) return setFault(answer.error.message);
      setFault("");
      announce("The policy is in force");
    } catch (error) {
      setFault(faultOf(error).message);
    }
  };
  return (
    <li className="stack-m surface shrinks remedy">
      <h4>{title}</h4>
      <p className="hint">{reach}</p>
      <PolicyDiff member={member} added={added} />
      {isDone ? (
        <output ref={done} className="remedy-done" tabIndex={-1}>
          In force. Run it again.
        </output>
      ) : (
        <div className="bar">
          {setPolicy && <Button onPress={() => void apply()}>Add to the policy</Button>}
          <CopyButton text={JSON.stringify(added, undefined, 2)} what="what would be added" />
        </div>
      )}
      {setPolicy === undefined && <p className="hint">Its operator sets this policy: it can only be read here.</p>}
      {fault !== "" && (
        <p className="fault" role="alert">
          The policy was not changed: {visible(fault)}
        </p>
      )}
    </li>
  );
}

function PolicyDiff({ member, added }: Pick<Remedy, "member" | "added">): ReactNode {
  const lines = visible(JSON.stringify(added, undefined, 2)).split("\n");
  return (
    <pre className="box wrap mono-s sunken diff" aria-label="Change of the policy">
      <span>{`  "${member}": [ …\n`}</span>
      {lines.map((line, index) => (
        <ins key={index}>{`+ ${line}\n`}</ins>
      ))}
      <span>{"  ]"}</span>
    </pre>
  );
}

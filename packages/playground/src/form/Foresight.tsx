import { type JsonValue, type Preview, visible } from "@keyhole/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { foreseen } from "../run/verdict.ts";
import { StateMark } from "../ui/StateMark.tsx";

/** Asks the kernel about a call without making it. */
export interface Foresee {
  /** Mode and policy; after a change of them, the page asks the kernel again. */
  readonly restsOn: unknown;
  readonly ask: (input: JsonValue) => Promise<Preview>;
  /** The page cannot check what an edge says. */
  readonly isClaim: boolean;
}

interface ForesightProps {
  readonly foresee: Foresee;
  /** `undefined`: the form's content is no input yet. */
  readonly input: JsonValue | undefined;
}

/** A person types on; the page asks the kernel when they pause. */
const pauseMs = 150;

/** The decision about the call if it started now. */
export function Foresight({ foresee, input }: ForesightProps): ReactNode {
  const preview = usePreview(foresee, input);
  return (
    <p className="small shrinks foresight">
      <span className="muted">{foresee.isClaim ? "If you run it now, the edge says:" : "If you run it now"}</span>{" "}
      <Answer input={input} preview={preview} />
    </p>
  );
}

type Seen = Preview | "unknown" | undefined;

function Answer({ input, preview }: { readonly input: JsonValue | undefined; readonly preview: Seen }): ReactNode {
  if (input === undefined) return <span>the form needs an answer first</span>;
  if (preview === undefined) return <span className="muted">…</span>;
  if (preview === "unknown") return <span>the kernel does not say</span>;
  const { state, word, why } = foreseen(preview);
  return (
    <span className="foresight-answer" data-state={state}>
      <StateMark state={state} />
      <span className="clamp wrap foresight-text">
        <b>{word}</b> <span className="foresight-why">{visible(why)}</span>
      </span>
    </span>
  );
}

/** The last answer stays until the next one, so that the line does not flicker with each key. */
function usePreview(foresee: Foresee, input: JsonValue | undefined): Seen {
  const [seen, setSeen] = useState<Seen>();
  useEffect(() => {
    if (input === undefined) return undefined;
    let left = false;
    const take = (answer: Seen): void => {
      if (!left) setSeen(answer);
    };
    const timer = setTimeout(() => {
      foresee.ask(input).then(take, () => take("unknown"));
    }, pauseMs);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [foresee, input]);
  return seen;
}

import type { ReactNode } from "react";
import type { Armed } from "./answer-keys.ts";
import type { KeyState } from "./useQuestionKeys.ts";

const armedTexts = {
  once: "Press Enter to allow it once.",
  session: "Press Enter to allow it for this session.",
} as const satisfies Record<Armed, string>;

interface KeysNoteProps {
  readonly keys: KeyState;
  /** The answer is for the shown arguments: only that has keys. */
  readonly isShown: boolean;
  /** How many answers allow. */
  readonly scopes: number;
}

/** The keys that count now. */
export function KeysNote({ keys: { armed, isTurned }, scopes, isShown }: KeysNoteProps): ReactNode {
  const allowing = isShown ? `, ${scopes > 1 ? "A or S" : "A"} and Enter allow` : "";
  return (
    <output className="hint question-keys" data-armed={armed}>
      {armed === undefined ? `${isTurned ? "" : "Tab first: "}D denies, E edits${allowing}` : armedTexts[armed]}
    </output>
  );
}

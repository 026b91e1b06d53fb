import type { ReactNode } from "react";

interface ChoiceRowProps {
  /** Whether its question or decision is the one beside the list. */
  readonly isShown: boolean;
  readonly onChoose: () => void;
  /** The whole text. The row shows its beginning. */
  readonly what: string;
  readonly children: ReactNode;
}

/** An entry of the list of questions, or of decisions. */
export function ChoiceRow({ isShown, onChoose, what, children }: ChoiceRowProps): ReactNode {
  return (
    <li>
      <button
        type="button"
        className="plain-list hovers question-row"
        title={what}
        aria-current={isShown ? "true" : undefined}
        onClick={onChoose}
      >
        {children}
      </button>
    </li>
  );
}

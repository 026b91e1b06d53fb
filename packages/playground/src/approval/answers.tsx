import type { ApprovalAnswer, ApprovalRequest, JsonValue } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Button } from "../ui/Button.tsx";
import type { Deliberate } from "./useDeliberate.ts";

export const approver = "playground";

export const answers = [
  { value: "shown", text: "As shown" },
  { value: "pattern", text: "A pattern" },
  { value: "edit", text: "Edited" },
] as const;

/** The next body is another one: the answer allows only this call. */
export const answersToBody = answers.filter(({ value }) => value !== "pattern");

export type AnswerKind = (typeof answers)[number]["value"];

export type Parsed =
  | { readonly ok: true; readonly value: JsonValue; readonly fault: "" }
  | { readonly ok: false; readonly fault: string };

export function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue, fault: "" };
  } catch (error) {
    return { ok: false, fault: error instanceof Error ? error.message : String(error) };
  }
}

/** A button that allows the call. */
interface Allowing {
  readonly text: string;
  /** Absent where the person has to fill in something first. */
  readonly answer: ApprovalAnswer | undefined;
}

const once: Allowing = { text: "Allow once", answer: { answer: "allow", scope: "once", approver } };
const session: Allowing = {
  text: "Allow for this session",
  answer: { answer: "allow", scope: "session", approver },
};

/** The answers besides a denial; the last answer is the default. */
export function answersOf(
  kind: AnswerKind,
  { hasBody }: ApprovalRequest,
  pattern: Extract<ApprovalAnswer, { scope: "pattern" }>["pattern"],
  edited: Parsed,
): readonly Allowing[] {
  switch (kind) {
    case "shown":
      return hasBody ? [once] : [session, once];
    case "pattern": {
      const answer = { answer: "allow", scope: "pattern", pattern, approver } as const;
      return [{ text: "Allow what fits", answer: pattern.length === 0 ? undefined : answer }];
    }
    case "edit": {
      const answer = edited.ok ? ({ answer: "edit", input: edited.value, approver } as const) : undefined;
      return [{ text: "Start again with these", answer }];
    }
  }
}

interface AllowButtonsProps extends Pick<Deliberate, "guard"> {
  readonly onAnswer: (answer: ApprovalAnswer) => void;
  readonly answers: readonly Allowing[];
  readonly mayAllow: boolean;
}

export function AllowButtons({ answers, mayAllow, guard, onAnswer }: AllowButtonsProps): ReactNode {
  return answers.map(({ text, answer }, index) => (
    <Button
      key={text}
      {...(index === answers.length - 1 && { look: "primary" })}
      onPress={guard(() => answer && onAnswer(answer))}
      isUnavailable={!mayAllow || answer === undefined}
    >
      {text}
    </Button>
  ));
}

import { type ApprovalRequest, type ArgumentCondition, type JsonObject, patternRule, visible } from "@keyhole/kernel";
import { type ReactNode, useMemo, useState } from "react";
import { Choice } from "../ui/Choice.tsx";
import { Json } from "../ui/Json.tsx";
import { type ArgumentChoices, argumentChoices, patternOf } from "./pattern.ts";

interface PatternAnswerProps {
  readonly request: ApprovalRequest;
  readonly state: PatternState;
}

interface PatternState {
  readonly all: readonly ArgumentChoices[];
  readonly chosen: ReadonlyMap<string, string>;
  readonly choose: (name: string, id: string) => void;
  readonly pattern: readonly ArgumentCondition[];
}

/** What later calls of the session may bring, argument by argument, and the rule that this becomes. */
export function PatternAnswer({ request, state: { all, chosen, choose, pattern } }: PatternAnswerProps): ReactNode {
  return (
    <>
      <div className="pattern-choices">
        {all.map(({ name, choices }) => (
          <Choice
            key={name}
            label={visible(name)}
            options={choices.map(({ id, text }) => ({ id, text: visible(text) }))}
            value={chosen.get(name) ?? choices[0]?.id}
            onChange={(id) => choose(name, id)}
          />
        ))}
      </div>
      {pattern.length === 0 ? (
        <p className="fault">Choose at least one condition: a pattern of nothing would allow everything.</p>
      ) : (
        <>
          <h3>The rule that this becomes, in this session</h3>
          <Json value={patternRule(request, pattern, "playground")} label="The rule that this becomes" />
        </>
      )}
    </>
  );
}

/**
 * What can be chosen, what was, and the pattern of it.
 *
 * @param known the properties of the tool's input schema
 */
export function usePattern({ input }: ApprovalRequest, known: JsonObject): PatternState {
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const all = useMemo(() => argumentChoices(input, known), [input, known]);
  return {
    all,
    chosen,
    choose: (name, id) => setChosen((before) => new Map(before).set(name, id)),
    pattern: patternOf(all, chosen),
  };
}

import { type ApprovalRequest, type ArgumentCondition, type JsonObject, patternRule } from "@keyhole/kernel";
import { type ReactNode, useMemo, useState } from "react";
import { Choice } from "../ui/Choice.tsx";
import { Json } from "../ui/Json.tsx";
import { visible } from "../ui/visible.ts";
import { argumentChoices, patternOf } from "./pattern.ts";

interface PatternAnswerProps {
  readonly request: ApprovalRequest;
  /** The properties of the tool's input schema. */
  readonly known: JsonObject;
  readonly chosen: ReadonlyMap<string, string>;
  readonly onChoose: (name: string, id: string) => void;
}

/** What later calls of the session may bring, argument by argument, and the rule that this becomes. */
export function PatternAnswer({ request, known, chosen, onChoose }: PatternAnswerProps): ReactNode {
  const all = useMemo(() => argumentChoices(request.input, known), [request.input, known]);
  const pattern = patternOf(all, chosen);
  return (
    <>
      <div className="pattern-choices">
        {all.map(({ name, choices }) => (
          <Choice
            key={name}
            label={visible(name)}
            options={choices.map(({ id, text }) => ({ id, text: visible(text) }))}
            value={chosen.get(name) ?? choices[0]?.id}
            onChange={(id) => onChoose(name, id)}
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

/** The state of {@link PatternAnswer}: what was chosen, and the pattern of it. */
export function usePattern(
  request: ApprovalRequest,
  known: JsonObject,
): {
  readonly chosen: ReadonlyMap<string, string>;
  readonly choose: (name: string, id: string) => void;
  readonly pattern: readonly ArgumentCondition[];
} {
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  return {
    chosen,
    choose: (name, id) => setChosen((all) => new Map(all).set(name, id)),
    pattern: patternOf(argumentChoices(request.input, known), chosen),
  };
}

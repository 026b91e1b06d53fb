import { type ApprovalRequest, type ArgumentCondition, type JsonObject, patternRule, visible } from "@keyhole/kernel";
import { type ReactNode, useMemo, useState } from "react";
import { Choice } from "../ui/Choice.tsx";
import { Json } from "../ui/Json.tsx";
import { matchedBy, useEarlierCalls } from "./earlier-inputs.ts";
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

/** The arguments that later calls of the session can have, one by one, and the rule that they become. */
export function PatternAnswer({ request, state: { all, chosen, choose, pattern } }: PatternAnswerProps): ReactNode {
  return (
    <>
      <div className="stack-l pattern-choices">
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
          <Matched request={request} pattern={pattern} />
        </>
      )}
    </>
  );
}

/** Of the calls that it matches. */
const mostNamed = 5;

/** The earlier calls that the pattern would have answered, so far as this browser knows. */
function Matched({ request, pattern }: Pick<PatternState, "pattern"> & Pick<PatternAnswerProps, "request">): ReactNode {
  const earlier = useEarlierCalls(request);
  const matched = useMemo(() => matchedBy(request, pattern, earlier ?? []), [request, pattern, earlier]);
  if (earlier === undefined) return <p className="hint">Reading the earlier calls…</p>;
  if (earlier.length === 0) return <p className="hint">This browser has no earlier call of this tool.</p>;
  return (
    <div>
      <p>
        It fits {matched.length} of the last {earlier.length} {earlier.length === 1 ? "call" : "calls"} of this tool in
        this browser.
      </p>
      <ul className="plain-list mono">
        {matched.slice(0, mostNamed).map(({ what }, index) => (
          <li key={index}>{visible(what)}</li>
        ))}
      </ul>
    </div>
  );
}

/**
 * The choices, the chosen ones, and their pattern.
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

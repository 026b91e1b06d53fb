import type { StateRead } from "../proof/proof.ts";

/** The text formats of a proof's `stateReads` and of its obligations: written and read here alone. */

export type StateReads = readonly StateRead[];

const labelsKey = "labels";
const countPrefix = "count:";
const labelPrefix = "label:";

/** Every decision rests on these. */
export function callReads({ caller, sessionId }: { readonly caller: string; readonly sessionId: string }): StateRead[] {
  return [
    { key: "caller", value: caller },
    { key: "session", value: sessionId },
  ];
}

export function labelsRead(labels: readonly string[]): StateRead {
  return { key: labelsKey, value: labels.join(" ") };
}

/** @param before the count of the rule before this call */
export function countRead(ruleId: string, before: number): StateRead {
  return { key: countPrefix + ruleId, value: before };
}

export function callerIn(reads: StateReads): StateRead["value"] | undefined {
  return valueOf(reads, "caller");
}

export function sessionIn(reads: StateReads): StateRead["value"] | undefined {
  return valueOf(reads, "session");
}

/** As {@link labelsOf} takes it. `undefined` where the decision looked at no labels. */
export function labelsTextIn(reads: StateReads): string | undefined {
  const value = valueOf(reads, labelsKey);
  return value === undefined ? undefined : String(value);
}

/** Labels by space, as a proof and an event of its decision have them. */
export function labelsOf(text: string): readonly string[] {
  return text.split(" ").filter((label) => label !== "");
}

/** The count of a rule; `undefined` where the decision did not read it. */
export function countIn(reads: StateReads, ruleId: string): number | undefined {
  const value = valueOf(reads, countPrefix + ruleId);
  return typeof value === "number" ? value : undefined;
}

/** The rule of the counter. */
export function countedRule({ key }: StateRead): string | undefined {
  return key.startsWith(countPrefix) ? key.slice(countPrefix.length) : undefined;
}

/** That the session carries a label from then on. */
export function labelObligation(label: string): string {
  return labelPrefix + label;
}

/** The labels that a call obliges its session to carry. */
export function obligedLabels(obligations: readonly string[]): readonly string[] {
  return obligations.filter((each) => each.startsWith(labelPrefix)).map((each) => each.slice(labelPrefix.length));
}

/** Of keys that stand twice the last counts. */
function valueOf(reads: StateReads, key: string): StateRead["value"] | undefined {
  return reads.findLast((each) => each.key === key)?.value;
}

import type { ArgumentCondition, ArgumentOperator } from "../../document/policy.ts";

/** The operators of conditions on arguments. */
export type OperatorName = ArgumentOperator extends infer Each ? (Each extends unknown ? keyof Each : never) : never;

export type Operand<Name extends OperatorName> = Extract<ArgumentOperator, Readonly<Record<Name, unknown>>>[Name];

/** The one operator of a condition. The document's schema has seen it. */
export function operatorOf(condition: ArgumentCondition): OperatorName {
  return Object.keys(condition).find((name) => name !== "at") as OperatorName;
}

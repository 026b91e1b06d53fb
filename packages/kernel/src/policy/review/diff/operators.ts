import type { ArgumentOperator } from "../../document/policy.ts";

/** The operators of conditions on arguments. */
export type OperatorName = ArgumentOperator extends infer Each ? (Each extends unknown ? keyof Each : never) : never;

export type Operand<Name extends OperatorName> = Extract<ArgumentOperator, Readonly<Record<Name, unknown>>>[Name];

import * as limits from "../../limits.ts";
import { isJsonObject, type JsonObject, type JsonValue, isJsonArray } from "../../json/json.ts";
import { type Codec, StateTable } from "../../state/table.ts";
import { compileCondition, type ConditionTest } from "../decision/condition.ts";
import { readDocument } from "../document/load.ts";
import { noFamilies } from "./pattern.ts";
import type { ApprovalProof } from "../proof/proof.ts";

/** An approval that outlives its call, and for whom and what it holds. */
export interface StandingApproval extends ApprovalProof {
  /** `name@version`. */
  readonly tool: string;
  readonly caller: string;
  readonly sessionId: string;
}

export interface Standing {
  readonly approval: ApprovalProof;
  readonly holdsFor: Pick<StandingApproval, "tool" | "caller" | "sessionId">;
  /** Since the epoch. */
  readonly untilMs: number;
  /** Of the pattern of arguments for which it holds. */
  readonly tests: readonly ConditionTest[] | undefined;
}

/** The tests of a pattern of arguments. */
export function testsOf({ rule }: ApprovalProof): Standing["tests"] {
  return rule && compileCondition(rule.when, false, "grant");
}

const codec: Codec<Standing> = {
  encode: ({ approval, holdsFor, untilMs }) => [{ ...approval } as unknown as JsonValue, { ...holdsFor }, untilMs],
  decode(value) {
    const [approval, holdsFor, untilMs] = isJsonArray(value) ? value : [];
    if (!isApproval(approval) || !isJsonObject(holdsFor) || typeof untilMs !== "number") return undefined;
    const { tool, caller, sessionId } = holdsFor;
    if (typeof tool !== "string" || typeof caller !== "string" || typeof sessionId !== "string") return undefined;
    return { approval, holdsFor: { tool, caller, sessionId }, untilMs, tests: testsOf(approval) };
  },
};

const texts = ["approvalId", "argsHash", "approver", "nonce", "expiresAt"] as const;

/** Checks the form: a malformed rule would allow calls without an approval. */
function isApproval(value: JsonValue | undefined): value is JsonObject & ApprovalProof {
  if (!isJsonObject(value) || !texts.every((name) => typeof value[name] === "string")) return false;
  const { scope, rule } = value;
  if (scope === "session") return rule === undefined;
  return (
    scope === "pattern" &&
    rule !== undefined &&
    readDocument({ version: "1", posture: "strict", rules: [rule] }, {}, noFamilies).ok
  );
}

/** Bounded: the oldest of the caller with the most are forgotten, and asked for again. */
export function standingTable(): StateTable<Standing> {
  return new StateTable({
    name: "approvals.standing",
    version: 1,
    codec,
    maxRows: limits.sessionApprovals,
    whenFull: "forget-oldest",
    untilMs: ({ untilMs }) => untilMs,
    writtenMs: ({ untilMs }) => untilMs - limits.standingApprovalMs,
  });
}

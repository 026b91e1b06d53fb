import { leastOf, type VouchedBy } from "../../audit/vouched.ts";
import type { Proof } from "../proof/proof.ts";
import type { ProofReport, ProofStep } from "./report.ts";

/**
 * A statement of the evidence, after its check. One that holds names its witness: the proof itself, or the party that vouches for the other evidence. So no check can
 * give a passed step for a witness without a voucher.
 */
export type Statement = Pick<ProofStep, "level" | "name"> &
  (
    | { readonly kind: "failed"; readonly reason: string }
    /** No evidence for it was given. */
    | { readonly kind: "absent"; readonly reason: string }
    | { readonly kind: "held"; readonly witness: "proof" | VouchedBy; readonly remark?: string }
  );

type Level = Statement["level"];
type Name = Statement["name"];

export function failed(level: Level, name: Name, reason: string): Statement {
  return { level, name, kind: "failed", reason };
}

export function absent(level: Level, name: Name, reason: string): Statement {
  return { level, name, kind: "absent", reason };
}

/** @param remark Of the step. Without one, the step of an unvouched witness has the reason of that. */
export function held(level: Level, name: Name, witness: "proof" | VouchedBy, remark = ""): Statement {
  return { level, name, kind: "held", witness, remark };
}

/** Evidence was given for it, and a part of that has no check. */
export function unchecked(level: Level, name: Name, reason: string): Statement {
  return held(level, name, { kind: "nobody", reason });
}

export function stepOf(statement: Statement): ProofStep {
  const { level, name } = statement;
  if (statement.kind === "failed") return { level, name, outcome: "failed", reason: statement.reason };
  if (statement.kind === "absent") return { level, name, outcome: "skipped", reason: statement.reason };
  const { witness, remark = "" } = statement;
  return witness !== "proof" && witness.kind === "nobody"
    ? { level, name, outcome: "unvouched", reason: remark || witness.reason }
    : { level, name, outcome: "passed", reason: remark };
}

/** The verdict is the least of what each statement rests on. */
export function reportOf(proof: Proof, signature: Statement, others: readonly Statement[]): ProofReport {
  const statements: readonly Statement[] = [held(0, "digest", "proof"), signature, ...others];
  const steps = statements.map(stepOf);
  const fault = steps.find(({ outcome }) => outcome === "failed");
  if (fault) return { verdict: "broken", reason: fault.reason, steps };
  const vouchedBy = leastOf(signerOf(signature), ...others.flatMap(witnessOf));
  return vouchedBy.kind === "key"
    ? { verdict: "verified", vouchedBy, proof, steps }
    : { verdict: "unvouched", vouchedBy, claimed: proof, steps };
}

/** The party that signed, as the check of a signature found it. */
export function signerOf(signature: Statement): VouchedBy {
  if (signature.kind !== "held") return { kind: "nobody", reason: signature.reason };
  return signature.witness === "proof"
    ? { kind: "nobody", reason: "A proof cannot vouch for itself." }
    : signature.witness;
}

function witnessOf(statement: Statement): readonly VouchedBy[] {
  return statement.kind === "held" && statement.witness !== "proof" ? [statement.witness] : [];
}

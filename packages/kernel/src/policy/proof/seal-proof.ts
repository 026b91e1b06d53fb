import { canonicalJson } from "../../json/canonical-json.ts";
import type { Hash } from "../../hash/hash.ts";
import type { JsonLike } from "../../json/json.ts";
import { quote } from "../../json/flat-text.ts";
import type { Decision } from "../document/policy.ts";
import type { Proof, ReasonCode, StateRead } from "./proof.ts";
import { labelsTextIn } from "../decision/state-reads.ts";

/** The engine whose rules decided; part of every proof, because the same policy can be read differently by a later one. */
export const engineVersion = "keyhole/1";

/** Closes a proof: the digest over the canonical JSON of all other fields. */
export function sealProof(body: Omit<Proof, "v" | "engineVersion" | "hash">, by: Hash): Proof {
  return { ...body, v: 1, engineVersion, hash: by.text(textOf(body)) };
}

/**
 * The canonical JSON of a proof without digest. Its members never change, so they stand in their order here: in the way of every call, sorting and
 * copying them took five times as long.
 */
function textOf(proof: Omit<Proof, "v" | "engineVersion" | "hash">): string {
  const { approval, determining, errors, obligations, parentProofId, stateReads } = proof;
  return (
    `{"approval":${approval === null ? "null" : canonicalJson(approval)},"callId":"${proof.callId}","considered":${proof.considered}` +
    `,"decidedAt":"${proof.decidedAt}","decision":"${proof.decision}","determining":${writeList(determining)}` +
    `,"enforced":${proof.enforced},"engineVersion":"${engineVersion}","errors":${writeList(errors)}` +
    `,"grantHash":"${proof.grantHash}","inputHash":"${proof.inputHash}","mode":"${proof.mode}"` +
    (proof.normalizer === undefined ? "" : `,"normalizer":"${proof.normalizer}"`) +
    `,"obligations":${writeList(obligations)},"parentProofId":${parentProofId === null ? "null" : `"${parentProofId}"`}` +
    `,"policyHash":"${proof.policyHash}","policyVersion":${quote(proof.policyVersion)},"posture":"${proof.posture}"` +
    `,"proofId":"${proof.proofId}","reasonCode":"${proof.reasonCode}"` +
    (proof.request === undefined ? "" : `,"request":${canonicalJson(proof.request)}`) +
    `,"stateReads":[${stateReads.map(writeRead).join()}]` +
    `,"tier":${proof.tier},"tool":"${proof.tool}","toolHash":"${proof.toolHash}","traceparent":"${proof.traceparent}","v":1}`
  );
}

const writeList = <List extends readonly unknown[]>(list: List & JsonLike<List>): string =>
  list.length === 0 ? "[]" : canonicalJson<List>(list);
const writeRead = ({ key, value }: StateRead): string =>
  `{"key":${quote(key)},"value":${typeof value === "string" ? quote(value) : value}}`;

/** The payload of a `policy.decided` event. */
export function decided(proof: Proof): {
  readonly decision: Decision;
  readonly enforced: boolean;
  readonly reasonCode: ReasonCode;
  readonly rules: readonly string[];
  readonly policyHash: string;
  readonly proofHash: string;
  readonly labels?: string;
  readonly proof?: Proof;
} {
  const { decision, enforced, reasonCode, determining, policyHash, hash: proofHash, stateReads, parentProofId } = proof;
  const rules = determining.map(({ ruleId }) => ruleId);
  const labels = labelsTextIn(stateReads);
  const isPartOfMore = decision === "ask" || parentProofId !== null;
  const said = { decision, enforced, reasonCode, rules, policyHash, proofHash };
  if (labels === undefined && !isPartOfMore) return said;
  return {
    ...said,
    ...(labels !== undefined && { labels }),
    ...(isPartOfMore && { proof }),
  };
}

import type { AuditEvent } from "../../audit/event.ts";
import { isList } from "../../support/guards.ts";
import type { TrustedKeys } from "../../audit/trusted-keys.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { knownOptions } from "../../json/known-options.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { ErrorCode } from "../../result.ts";
import { failureFinding } from "./check-result.ts";
import { evidenceNames, type ProofEvidence } from "./proof-evidence.ts";
import type { FailureReport } from "./report.ts";
import { absent, failed, type Statement, stepOf, unchecked } from "./statement.ts";
import { algorithmOf, LARGE, readLog } from "./witnessed-log.ts";

/** Whether a call can end with a code before the kernel decided about it. A new code does not compile without its row. */
const rows: Readonly<Record<ErrorCode, boolean>> = {
  TOOL_NOT_FOUND: true,
  INVALID_INPUT: true,
  // Of a resumed call that read the real clock.
  CAPABILITY_DENIED: true,
  POLICY_DENIED: false,
  APPROVAL_DENIED: false,
  APPROVAL_EXPIRED: false,
  APPROVAL_UNAVAILABLE: false,
  IDEMPOTENCY_UNAVAILABLE: true,
  RATE_LIMITED: true,
  TOOL_SET_ASIDE: false,
  BOUNDS_EXCEEDED: false,
  TIMEOUT: false,
  CANCELLED: true,
  OUT_OF_FUEL: false,
  OUT_OF_MEMORY: false,
  ISOLATE_LOST: false,
  TOOL_ERROR: false,
  INVALID_OUTPUT: false,
  NOT_NORMALIZABLE: false,
  AUDIT_UNAVAILABLE: true,
  UNSUPPORTED_HOST: true,
  SUSPENDED: true,
  SNAPSHOT_REFUSED: true,
  SUSPENSION_UNAVAILABLE: true,
  INTERNAL: true,
};
const canLackProof: ReadonlyMap<unknown, boolean> = new Map(Object.entries(rows));

type Failure = JsonObject & { readonly callId: string; readonly tool: string; readonly error: JsonObject };

const place = [1, "result"] as const;
const needsLog = "The call failed before a decision, so it has no proof. Its log can vouch for it, and there is none.";

/** Whether a file claims to be a failed call, and to have no proof. */
export function isUnproven(file: JsonValue): file is JsonObject {
  return isJsonObject(file) && file["ok"] === false && file["proof"] === undefined && isJsonObject(file["error"]);
}

/**
 * Verifies the result of a call that failed before a decision. Nothing in it is signed, so alone it is neither broken nor intact: anyone can write one. The log records its
 * error. Takes foreign data and never throws.
 */
export async function verifyFailure(given: ProofEvidence, trusted: TrustedKeys | undefined): Promise<FailureReport> {
  const { result: foreign, ...evidence } = knownOptions(given, evidenceNames, "verifyEvidence");
  const plain = snapshot(foreign, LARGE);
  const result = plain.ok ? plain.value : null;
  const fault = shapeFault(result);
  if (fault !== undefined) return reportOf(failed(...place, fault));
  const statement = await statementOf(result as Failure, evidence, trusted);
  return reportOf(statement);
}

function shapeFault(result: JsonValue): string | undefined {
  if (!isUnproven(result) || typeof result["callId"] !== "string" || typeof result["tool"] !== "string")
    return "The file has no proof, and is no failed call.";
  const { code, message } = result["error"] as JsonObject;
  const canLack = canLackProof.get(code);
  if (typeof code !== "string" || canLack === undefined || typeof message !== "string")
    return "The file has no proof, and no error of a call.";
  if (!canLack) return `A call that ends with ${code} has a proof, and the file has none.`;
  const { hash, data, reference } = result;
  return [hash, data, reference].some((each) => each !== undefined)
    ? "A failed call has no output, and the file has one."
    : undefined;
}

async function statementOf(
  result: Failure,
  evidence: ProofEvidence,
  trusted: TrustedKeys | undefined,
): Promise<Statement> {
  const { events: log } = evidence;
  const first = snapshot(isList(log) ? log[0] : undefined);
  const read = await readLog(evidence, algorithmOf(first.ok ? first.value : undefined), trusted);
  if (read.kind === "none") return absent(...place, needsLog);
  if (read.kind === "unread") return absent(...place, read.reason);
  if (read.kind === "broken") return failed(...place, read.reason);
  const finding = (events: readonly AuditEvent[]) => failureFinding(result, events, result.callId);
  const statement = read.log.state(
    ...place,
    (events) => finding(events).fault,
    (events) => finding(events).gap,
  );
  const { input, policy, tool, grants, parent } = evidence;
  const isMore = [input, policy, tool, grants, parent].some((each) => each !== undefined);
  return isMore && statement.kind === "held"
    ? unchecked(...place, "Policy, tool and input belong to a decision, and there was none.")
    : statement;
}

function reportOf(statement: Statement): FailureReport {
  const steps = [stepOf(statement)];
  if (statement.kind === "failed") return { verdict: "broken", reason: statement.reason, steps };
  if (statement.kind === "absent") return { verdict: "inconclusive", reason: statement.reason, steps };
  const { witness } = statement;
  if (witness !== "proof" && witness.kind === "key") return { verdict: "verified", vouchedBy: witness, steps };
  const vouchedBy = witness === "proof" ? { kind: "nobody" as const, reason: needsLog } : witness;
  return { verdict: "unvouched", vouchedBy, steps };
}

import type { CallResult, ToolSummary } from "@keyhole/kernel";
import type { EvidenceVerdict } from "@keyhole/kernel/audit";
import { type Answer, type Evidence, evidenceOf } from "./evidence.ts";
import { chainFault, logFault } from "./log-fault.ts";
import { dataFault } from "./member-faults.ts";
import { membersFault } from "./members.ts";
import { failed, type Outcome } from "./outcome.ts";

/** One thing that this client can recompute, or cannot. */
export interface Check {
  readonly what: "tool" | "result" | "proof" | "events" | "log";
  readonly outcome: "passed" | "failed" | "skipped";
  /** Why it failed or was skipped; empty where it passed. */
  readonly reason: string;
}

export interface Verification {
  /** `broken` where one check failed, `inconclusive` where one could not be made. Never `verified`: this client has no key of the edge. */
  readonly verdict: Exclude<EvidenceVerdict, "verified">;
  readonly checks: readonly Check[];
}

const checks: Readonly<Record<Check["what"], (evidence: Evidence) => Outcome>> = {
  tool: (evidence) => membersFault("tool", evidence),
  result: (evidence) => membersFault("result", evidence),
  proof: (evidence) => membersFault("proof", evidence),
  events: chainFault,
  log: (evidence) => logFault(evidence) ?? membersFault("log", evidence),
};

/**
 * Recomputes what an edge says of a call, from what the edge sent. It finds an answer that contradicts itself. Whether the edge made the
 * whole answer up, only a signature under a known key can tell. Nothing foreign makes it throw.
 */
export function verifyAnswer(answer: Answer): Verification {
  let evidence: Evidence | undefined;
  return verifyRead(() => (evidence ??= evidenceOf(answer)));
}

/** @param read Can throw: then each check fails. */
export function verifyRead(read: () => Evidence): Verification {
  const made = Object.entries(checks).map(([what, check]): Check => {
    const outcome = guarded(() => check(read()));
    if (outcome === undefined) return { what: what as Check["what"], outcome: "passed", reason: "" };
    return "failed" in outcome
      ? { what: what as Check["what"], outcome: "failed", reason: outcome.failed }
      : { what: what as Check["what"], outcome: "skipped", reason: outcome.skipped };
  });
  const has = (outcome: Check["outcome"]): boolean => made.some((check) => check.outcome === outcome);
  return { verdict: has("failed") ? "broken" : has("skipped") ? "inconclusive" : "unvouched", checks: made };
}

function guarded(check: () => Outcome): Outcome {
  try {
    return check();
  } catch (error) {
    return failed(`It is unreadable: ${error instanceof Error ? error.message.slice(0, 200) : "it threw"}.`);
  }
}

/** @returns `undefined` where this client cannot compute it */
export function isResultHash(tool: ToolSummary, result: CallResult): boolean | undefined {
  const evidence = (): Evidence => evidenceOf({ tool, inputs: [], result, events: [], hasStream: false });
  const outcome = guarded(() => dataFault(evidence()));
  return outcome === undefined ? true : "failed" in outcome ? false : undefined;
}

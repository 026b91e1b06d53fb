import type { JsonValue } from "@keyhole/kernel";
import { type AuditCheck, type Judged, verdictLine, verifyAudit } from "@keyhole/kernel/audit";
import { type CommandFiles, type CommandOptions, type CommandResult, exitCodes, visible } from "../io.ts";
import { optionOf } from "../options.ts";
import { readPolicy } from "../policy/read-policy.ts";
import { PasskeyWatch } from "./passkeys.ts";
import { lineOf, logStep, type Step } from "./verify-log.ts";

/** Logs in one file: each is whole or not by itself. No log shows what lies between two. */
export async function verifyLogList(
  logs: readonly (readonly JsonValue[])[],
  options: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const policy = optionOf(options, "policy");
  const passkeys = new PasskeyWatch(policy === undefined ? undefined : await readPolicy(policy, files));
  const withheld = options["withheld"] === true;
  const checks: AuditCheck[] = [];
  const steps: Step[] = [];
  for (const [index, log] of logs.entries()) {
    const check = await verifyAudit(passkeys.over(log), { part: true, withheld });
    const step = logStep(check, undefined, false);
    checks.push(check);
    steps.push({ ...step, text: `${index + 1} of ${logs.length}. ${step.text}` });
  }
  // Of a broken log not all was read.
  if (checks.every(({ verdict }) => verdict !== "broken")) steps.push(...passkeys.steps());
  const judged = judgedOf(checks, steps);
  const output =
    options["json"] === true
      ? JSON.stringify({ ...judged, logs: checks, steps }, undefined, 2)
      : [...steps.map(lineOf), verdictLine(judged)].map(visible).join("\n");
  return { exitCode: exitCodes[judged.verdict], output: `${output}\n` };
}

function judgedOf(checks: readonly AuditCheck[], steps: readonly Step[]): Judged {
  const failed = steps.find(({ outcome }) => outcome === "failed");
  if (failed) return { verdict: "broken", reason: failed.text };
  const unread = checks.find((check) => check.verdict === "inconclusive");
  if (unread || checks.length === 0)
    return { verdict: "inconclusive", reason: unread?.reason ?? "The file has no log." };
  const reason = "Author, and events between the logs, not checked: there is no checkpoint.";
  return { verdict: "unvouched", vouchedBy: { kind: "nobody", reason } };
}

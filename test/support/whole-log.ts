import { type AuditCheck, type AuditSource, verifyAudit } from "@keyhole/kernel/audit";

/** What a log says of itself that has to be whole here, whoever vouches for it. */
export async function wholeLog(
  source: AuditSource,
): Promise<Exclude<AuditCheck, { readonly verdict: "broken" | "inconclusive" }>> {
  const check = await verifyAudit(source);
  if (check.verdict === "broken" || check.verdict === "inconclusive") throw new Error(check.reason);
  return check;
}

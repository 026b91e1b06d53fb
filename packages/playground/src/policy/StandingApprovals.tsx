import { type StandingApproval, visible } from "@keyhole/kernel";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { type ClientFault, faultOf, type Governance } from "../client/kernel-client.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Json } from "../ui/Json.tsx";
import { FaultNotice } from "../ui/Notice.tsx";
import { useAnnounce } from "../ui/announce.tsx";

/** The standing approvals, and the way to revoke them. */
export function StandingApprovals({ approvals }: { readonly approvals: Governance["approvals"] }): ReactNode {
  const [standing, setStanding] = useState<readonly StandingApproval[]>([]);
  const [fault, setFault] = useState<ClientFault>();
  const announce = useAnnounce();
  const refresh = useCallback(
    () => approvals.list().then(setStanding, (error: unknown) => setFault(faultOf(error))),
    [approvals],
  );
  useEffect(() => void refresh(), [refresh]);

  const revoke = async ({ approvalId, tool }: StandingApproval): Promise<void> => {
    try {
      await approvals.revoke(approvalId);
      announce(`The approval of ${tool} is revoked`);
    } catch (error) {
      setFault(faultOf(error));
    }
    await refresh();
  };
  return (
    <section className="stack-m" aria-label="Standing approvals">
      <h2>Standing approvals</h2>
      {fault !== undefined && <FaultNotice fault={fault} />}
      {standing.length === 0 ? (
        <p className="hint">None: every question is asked.</p>
      ) : (
        <ul className="stack-m standing-list">
          {standing.map((approval) => (
            <li className="stack-s box" key={approval.approvalId}>
              <div className="bar wrap standing-head">
                <code>{visible(approval.tool)}</code>
                <Badge>{approval.scope === "pattern" ? "pattern" : "same arguments"}</Badge>
                <Button look="danger" onPress={() => void revoke(approval)}>
                  Revoke
                </Button>
              </div>
              <p className="hint">
                By {visible(approval.approver)}, for {visible(approval.caller)}, until{" "}
                {new Date(approval.expiresAt).toLocaleTimeString()}
              </p>
              {approval.rule !== undefined && (
                <Json value={approval.rule.when.arguments} label={`Pattern of the approval of ${approval.tool}`} />
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

import type { ApprovalRequest } from "@keyhole/kernel";
import { visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { tierText, tierTones } from "../app/words.ts";
import { Badge } from "../ui/Badge.tsx";
import { Fact } from "../ui/Fact.tsx";
import { LongText } from "../ui/LongText.tsx";

export function Facts({ request }: { readonly request: ApprovalRequest }): ReactNode {
  const { tier, risk, grants, description, hasBody } = request;
  return (
    <dl className="facts">
      <Fact name="Does">
        <LongText text={description} what="the description" />
      </Fact>
      {hasBody && <Fact name="Body">Bytes come with this call that cannot be shown here.</Fact>}
      <Fact name="Tier">
        <Badge tone={tierTones[tier]}>{tierText(tier)}</Badge>
        {risk !== null && <Badge>{visible(risk)} risk</Badge>}
      </Fact>
      <Fact name="May use">
        {grants.length === 0 ? (
          "No capability"
        ) : (
          <ul className="plain-list mono">
            {grants.map((grant) => (
              <li key={grant}>
                <LongText text={grant} what="the grant" lines={2} />
              </li>
            ))}
          </ul>
        )}
      </Fact>
    </dl>
  );
}

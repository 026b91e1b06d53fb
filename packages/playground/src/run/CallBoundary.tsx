import type { GrantRule, JsonValue } from "@keyhole/kernel";
import { isProof } from "@keyhole/kernel/policy";
import { type ReactNode, useMemo } from "react";
import type { GovernanceState } from "../client/kernel-client.ts";
import { Boundary } from "./Boundary.tsx";
import { openingsOf } from "./openings.ts";
import type { ActiveRun } from "./run-state.ts";
import { wantedOf } from "./wanted.ts";

interface CallBoundaryProps {
  readonly run: ActiveRun;
  readonly governed: GovernanceState | undefined;
}

/** The picture of a call. The page knows the reach of a grant only while the policy that decided is in force. */
export function CallBoundary({ run, governed }: CallBoundaryProps): ReactNode {
  const { tool, events } = run;
  const proof = run.phase === "done" ? run.result.proof : undefined;
  const known = isProof(proof) ? proof : undefined;
  const isSame = known !== undefined && governed?.policyHash === known.policyHash;
  const policy = isSame ? governed?.policy : undefined;
  const openings = useMemo(
    () => openingsOf(tool, events, grantsOf(policy), wantedOf(run)),
    [tool, events, policy, run],
  );
  return <Boundary tool={tool.manifest.name} openings={openings} />;
}

/** A policy from an edge is foreign. */
function grantsOf(policy: JsonValue | undefined): readonly GrantRule[] | undefined {
  if (typeof policy !== "object" || policy === null || !("grants" in policy) || !Array.isArray(policy.grants))
    return undefined;
  return policy.grants.filter(isGrant);
}

function isGrant(foreign: unknown): foreign is GrantRule {
  if (typeof foreign !== "object" || foreign === null || !("tool" in foreign) || !("capability" in foreign))
    return false;
  const { tool, capability } = foreign;
  return (
    typeof tool === "string" &&
    typeof capability === "object" &&
    capability !== null &&
    "kind" in capability &&
    typeof capability.kind === "string"
  );
}

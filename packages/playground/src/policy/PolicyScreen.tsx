import { visible } from "@keyhole/kernel";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { type ClientFault, faultOf, type Governance, type GovernanceState } from "../client/kernel-client.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { FaultNotice, Loading, Notice } from "../ui/Notice.tsx";
import { shortHash } from "../ui/short-hash.ts";
import { isHashOf } from "./edit.ts";
import { ModeField } from "./Openings.tsx";
import "./policy.css";
import { PolicyBench } from "./PolicyBench.tsx";
import { PolicyReader } from "./PolicyReader.tsx";
import { StandingApprovals } from "./StandingApprovals.tsx";

interface PolicyScreenProps {
  /** Absent where this client may not see the kernel's policy. */
  readonly governance: Governance | undefined;
  /** Names of all tools of the kernel. */
  readonly tools: readonly string[];
}

/** The policy: a person reads it, changes it, and tries it on earlier calls. */
export function PolicyScreen({ governance, tools }: PolicyScreenProps): ReactNode {
  return (
    <main className="screen policy-screen" aria-label="Policy">
      {governance === undefined ? (
        <div className="pane policy-alone">
          <h1>Policy</h1>
          <Notice tone="neutral" title="This kernel does not show its policy">
            <p>Its operator sets it. Each call still carries the hash of the policy that decided it, in its proof.</p>
          </Notice>
        </div>
      ) : (
        <Governed governance={governance} tools={tools} />
      )}
    </main>
  );
}

type Loaded =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly value: GovernanceState }
  | { readonly state: "failed"; readonly fault: ClientFault };

function Governed({ governance, tools }: PolicyScreenProps & { readonly governance: Governance }): ReactNode {
  const { loaded, refresh } = useGovernance(governance);
  if (loaded.state === "loading") return <Loading>Reading the policy…</Loading>;
  if (loaded.state === "failed") {
    return (
      <div className="pane policy-alone">
        <h1>Policy</h1>
        <FaultNotice fault={loaded.fault} />
      </div>
    );
  }
  const { policy, policyHash, mode } = loaded.value;
  const { setPolicy, setMode, approvals } = governance;
  const modeField = <ModeField mode={mode} setMode={setMode} onChanged={refresh} />;
  const hash = <InForce hash={policyHash} isVerified={isHashOf(policyHash, policy)} />;
  if (setPolicy === undefined) {
    return (
      <div className="pane policy-alone">
        <header className="bar under screen-head">
          <h1>Policy</h1>
          {hash}
        </header>
        {modeField}
        <PolicyReader policy={policy} />
        <StandingApprovals approvals={approvals} />
      </div>
    );
  }
  return (
    <PolicyBench
      policy={policy}
      setPolicy={setPolicy}
      onApplied={refresh}
      tools={tools}
      hash={hash}
      modeField={modeField}
      approvals={approvals}
    />
  );
}

function InForce({ hash, isVerified }: { readonly hash: string; readonly isVerified: boolean }): ReactNode {
  return (
    <span className="bar note policy-hash">
      in force <code title={visible(hash)}>{visible(shortHash(hash))}</code>
      <CopyButton text={hash} what="the policy hash" />
      {!isVerified && (
        <span className="cut">Not verified: this page computes another hash for the policy that is shown.</span>
      )}
    </span>
  );
}

function useGovernance(governance: Governance): { readonly loaded: Loaded; readonly refresh: () => Promise<void> } {
  const [loaded, setLoaded] = useState<Loaded>({ state: "loading" });
  const refresh = useCallback(
    () =>
      governance.read().then(
        (value) => setLoaded({ state: "ready", value }),
        (error: unknown) => setLoaded({ state: "failed", fault: faultOf(error) }),
      ),
    [governance],
  );
  useEffect(() => void refresh(), [refresh]);
  // The header changes the mode, and a decision's card the policy.
  useEffect(() => governance.subscribe?.(() => void refresh()), [governance, refresh]);
  return { loaded, refresh };
}

import { type Mode, modes, visible } from "@keyhole/kernel";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { type ClientFault, faultOf, type Governance, type GovernanceState } from "../client/kernel-client.ts";
import { Choice } from "../ui/Choice.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Loading, Notice } from "../ui/Notice.tsx";
import { Sheet } from "../ui/Sheet.tsx";
import { useAnnounce } from "../ui/announce.tsx";
import { isHashOf } from "./edit.ts";
import { PolicyEditor } from "./PolicyEditor.tsx";
import { PolicyReader } from "./PolicyReader.tsx";
import { StandingApprovals } from "./StandingApprovals.tsx";

interface PolicySheetProps {
  readonly governance: Governance | undefined;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function PolicySheet({ governance, isOpen, onClose }: PolicySheetProps): ReactNode {
  return (
    <Sheet title="Policy" isOpen={isOpen} onClose={onClose}>
      {governance === undefined ? (
        <Notice tone="neutral" title="This kernel does not show its policy">
          <p>Its operator sets it. Each call still carries the hash of the policy that decided it, in its proof.</p>
        </Notice>
      ) : (
        <Governed governance={governance} />
      )}
    </Sheet>
  );
}

const modeTexts = {
  NORMAL: "The policy's answer stands.",
  ALERT: "Asks for everything that writes and for tier 2 and above.",
  DEGRADED: "Denies tier 3 and above.",
  LOCKDOWN: "Denies everything but tools of tier 0 without effects.",
  RECOVERY: "Asks for everything with effects, denies tier 3 and above.",
} as const satisfies Record<Mode, string>;

type Loaded =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly value: GovernanceState }
  | { readonly state: "failed"; readonly fault: ClientFault };

function Governed({ governance }: { readonly governance: Governance }): ReactNode {
  const { loaded, refresh, fail } = useGovernance(governance);
  if (loaded.state === "loading") return <Loading>Reading the policy…</Loading>;
  if (loaded.state === "failed") {
    return (
      <Notice tone="bad" title={loaded.fault.message} urgent>
        <p>{visible(loaded.fault.hint)}</p>
      </Notice>
    );
  }
  const { policy, policyHash, mode } = loaded.value;
  const { setPolicy, setMode, approvals } = governance;
  return (
    <>
      <ModeField mode={mode} setMode={setMode} onChanged={refresh} onFault={fail} />
      {setPolicy === undefined ? (
        <PolicyReader policy={policy} />
      ) : (
        <PolicyEditor policy={policy} setPolicy={setPolicy} onApplied={refresh} />
      )}
      <StandingApprovals approvals={approvals} />
      <dl className="facts">
        <dt>In force</dt>
        <dd className="hash">
          <code>{visible(policyHash)}</code>
          <CopyButton text={policyHash} what="the policy hash" />
          {!isHashOf(policyHash, policy) && (
            <span className="cut">Not verified: this page computes another hash for the policy that is shown.</span>
          )}
        </dd>
      </dl>
    </>
  );
}

interface LoadedGovernance {
  readonly loaded: Loaded;
  readonly refresh: () => Promise<void>;
  readonly fail: (error: unknown) => void;
}

function useGovernance(governance: Governance): LoadedGovernance {
  const [loaded, setLoaded] = useState<Loaded>({ state: "loading" });
  const fail = useCallback((error: unknown) => setLoaded({ state: "failed", fault: faultOf(error) }), []);
  const refresh = useCallback(
    () => governance.read().then((value) => setLoaded({ state: "ready", value }), fail),
    [governance, fail],
  );
  useEffect(() => void refresh(), [refresh]);
  return { loaded, refresh, fail };
}

interface ModeFieldProps {
  readonly mode: Mode;
  readonly setMode: Governance["setMode"] | undefined;
  readonly onChanged: () => Promise<void>;
  readonly onFault: (error: unknown) => void;
}

function ModeField({ mode, setMode, onChanged, onFault }: ModeFieldProps): ReactNode {
  const announce = useAnnounce();
  const changeMode = async (next: Mode): Promise<void> => {
    try {
      await setMode?.(next, "Set by a person in the playground");
      announce(`The mode is now ${next}`);
    } catch (error) {
      return onFault(error);
    }
    await onChanged();
  };
  return (
    <>
      <Choice
        label="Mode"
        options={modes.map((each) => ({ id: each, text: each }))}
        value={mode}
        isDisabled={setMode === undefined}
        onChange={(id) => {
          const next = modes.find((each) => each === id);
          if (next !== undefined) void changeMode(next);
        }}
      />
      <p className="hint">
        {modeTexts[mode]}
        {setMode !== undefined && " A change of the mode holds at once."}
      </p>
    </>
  );
}

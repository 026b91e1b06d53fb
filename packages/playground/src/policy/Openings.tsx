import { type PolicyDocument, type Mode, modes, visible } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { capabilityText } from "../app/capability-words.ts";
import { type ClientFault, faultOf, type Governance } from "../client/kernel-client.ts";
import { Choice } from "../ui/Choice.tsx";
import { FaultNotice } from "../ui/Notice.tsx";
import { Segmented } from "../ui/Segmented.tsx";
import { IconButton } from "../ui/Button.tsx";
import { useAnnounce } from "../ui/announce.tsx";
import { withHost, withoutGrant } from "./edit.ts";
import { NewHost } from "./NewHost.tsx";

interface OpeningsProps {
  readonly document: PolicyDocument;
  /** Calls that need each grant; absent without a count. */
  readonly counts: readonly number[] | undefined;
  readonly onChange: (document: PolicyDocument) => void;
}

/** Each grant of every tool as a row. */
export function Openings({ document, counts, onChange }: OpeningsProps): ReactNode {
  const { grants = [] } = document;
  return (
    <div className="openings">
      <PostureField document={document} onChange={onChange} />
      <NewHost onAdd={({ host, port }) => onChange(withHost(document, host, port))} />
      <table className="small openings-table">
        <caption className="visually-hidden">Grants</caption>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">Caller</th>
            <th scope="col">May reach</th>
            <th scope="col">Calls</th>
            <th scope="col">
              <span className="visually-hidden">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {grants.slice(0, mostRows).map(({ tool, caller, capability }, index) => (
            <tr key={index}>
              <td>
                <code>{tool === "*" ? "every tool" : visible(tool)}</code>
              </td>
              <td>{caller === undefined ? "everyone" : visible(caller)}</td>
              <td>{capabilityText(capability)}</td>
              <td className="num">{counts?.[index] ?? ""}</td>
              <td>
                <IconButton
                  icon="close"
                  label={`Remove ${tool}: ${capabilityText(capability)}`}
                  onPress={() => onChange(withoutGrant(document, index))}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {grants.length === 0 && <p className="hint">No grant: no tool reaches anything.</p>}
      {grants.length > mostRows && (
        <p className="cut">{(grants.length - mostRows).toLocaleString("en")} more grants stand in the document.</p>
      )}
    </div>
  );
}

const mostRows = 500;

const postures = [
  { value: "strict", text: "Strict" },
  { value: "standard", text: "Standard" },
  { value: "permissive", text: "Permissive" },
] as const;

const postureTexts = {
  strict: "Tier 0 runs, tiers 1 and 2 ask, tiers 3 and 4 are denied.",
  standard: "Tiers 0 and 1 run, tiers 2 and 3 ask, tier 4 is denied.",
  permissive: "Tiers 0 to 2 run, tier 3 asks, tier 4 is denied.",
} as const satisfies Record<PolicyDocument["posture"], string>;

function PostureField({ document, onChange }: Pick<OpeningsProps, "document" | "onChange">): ReactNode {
  return (
    <div className="field">
      <span className="bar label">Posture</span>
      <Segmented
        label="Posture"
        value={document.posture}
        options={postures}
        onChange={(posture) => onChange({ ...document, posture })}
      />
      <p className="hint">{postureTexts[document.posture]}</p>
    </div>
  );
}

const modeTexts = {
  NORMAL: "The policy's answer stands.",
  ALERT: "Asks for everything that writes and for tier 2 and above.",
  DEGRADED: "Denies tier 3 and above.",
  LOCKDOWN: "Denies everything but tools of tier 0 without effects.",
  RECOVERY: "Asks for everything with effects, denies tier 3 and above.",
} as const satisfies Record<Mode, string>;

interface ModeFieldProps {
  readonly mode: Mode;
  readonly setMode: Governance["setMode"] | undefined;
  readonly onChanged: () => Promise<void>;
}

export function ModeField({ mode, setMode, onChanged }: ModeFieldProps): ReactNode {
  const announce = useAnnounce();
  const [fault, setFault] = useState<ClientFault>();
  const changeMode = async (next: Mode): Promise<void> => {
    try {
      await setMode?.(next, "Set by a person in the playground");
      setFault(undefined);
      announce(`The mode is now ${next}`);
    } catch (error) {
      setFault(faultOf(error));
    }
    await onChanged();
  };
  return (
    <div className="field">
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
      {fault !== undefined && <FaultNotice fault={fault} />}
    </div>
  );
}

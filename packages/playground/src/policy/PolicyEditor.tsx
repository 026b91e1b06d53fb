import { type JsonValue, type PolicyDocument, type SetupError, visible } from "@keyhole/kernel";
import { type ReactNode, useMemo, useState } from "react";
import { Label, TextArea, TextField } from "../ui/TextField.tsx";
import { useUnsaved } from "../app/StorageNotice.tsx";
import { type ClientFault, faultOf, type Governance } from "../client/kernel-client.ts";
import { startPolicy } from "../kernel/default-policy.ts";
import { useAnnounce } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Segmented } from "../ui/Segmented.tsx";
import { readPolicy, writePolicy } from "./edit.ts";
import { HostGrants } from "./HostGrants.tsx";

interface PolicyEditorProps {
  readonly policy: JsonValue;
  readonly setPolicy: NonNullable<Governance["setPolicy"]>;
  readonly onApplied: () => Promise<void>;
}

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

export function PolicyEditor(props: PolicyEditorProps): ReactNode {
  const { text, reading, fault, failure, isInForce, change, undo, apply, edit } = usePolicyText(props);
  const isUnsaved = useUnsaved().includes("the policy");
  return (
    <>
      {reading.ok && (
        <>
          <PostureField document={reading.document} onChange={edit} />
          <HostGrants document={reading.document} onChange={edit} />
        </>
      )}
      <PolicyText text={text} fault={fault} onChange={change} />
      {failure !== undefined && (
        <Notice tone="bad" title={failure.message} urgent>
          <p>{visible(failure.hint)}</p>
        </Notice>
      )}
      <div className="actions sticky">
        <Button
          look="primary"
          onPress={() => reading.ok && void apply(reading.document)}
          isUnavailable={!reading.ok || isInForce}
        >
          Apply
        </Button>
        <Button onPress={undo} isUnavailable={isInForce}>
          Undo changes
        </Button>
        <Button look="quiet" onPress={() => change(writePolicy(startPolicy))}>
          Reset
        </Button>
        <output className="hint">{isInForce ? inForceText(isUnsaved) : "Not applied yet"}</output>
      </div>
    </>
  );
}

interface PolicyTextState {
  readonly text: string;
  readonly reading: ReturnType<typeof readPolicy>;
  /** What is wrong with the text, or why the kernel refused it. */
  readonly fault: SetupError | undefined;
  readonly failure: ClientFault | undefined;
  readonly isInForce: boolean;
  readonly change: (text: string) => void;
  readonly undo: () => void;
  readonly apply: (document: PolicyDocument) => Promise<void>;
  /** A control holds at once, unless the text was edited by hand and waits to be applied: then it edits that text. */
  readonly edit: (document: PolicyDocument) => void;
}

/** The JSON text is the only state; everything above it reads and writes that text. */
function usePolicyText({ policy, setPolicy, onApplied }: PolicyEditorProps): PolicyTextState {
  const inForce = useMemo(() => writePolicy(policy), [policy]);
  const [text, setText] = useState(inForce);
  const [refusal, setRefusal] = useState<SetupError | undefined>(undefined);
  const [failure, setFailure] = useState<ClientFault | undefined>(undefined);
  const announce = useAnnounce();
  const reading = useMemo(() => readPolicy(text), [text]);
  const isInForce = text === inForce;
  const change = (next: string): void => {
    setText(next);
    setRefusal(undefined);
  };
  const apply = async (document: PolicyDocument): Promise<void> => {
    change(writePolicy(document));
    setFailure(undefined);
    try {
      const applied = await setPolicy(document as unknown as JsonValue);
      if (!applied.ok) return setRefusal(applied.error);
      announce("The policy is in force");
    } catch (error) {
      setFailure(faultOf(error));
    }
    // The kernel, not this form, knows which policy is in force, also after a failure.
    await onApplied();
  };
  return {
    text,
    reading,
    fault: reading.ok ? refusal : reading.error,
    failure,
    isInForce,
    change,
    undo: () => change(inForce),
    apply,
    edit: (document) => (isInForce ? void apply(document) : change(writePolicy(document))),
  };
}

interface PostureFieldProps {
  readonly document: PolicyDocument;
  readonly onChange: (document: PolicyDocument) => void;
}

function PostureField({ document, onChange }: PostureFieldProps): ReactNode {
  return (
    <div className="field">
      <span className="label">Posture</span>
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

interface PolicyTextProps extends Pick<PolicyTextState, "text" | "fault"> {
  readonly onChange: (text: string) => void;
}

function PolicyText({ text, fault, onChange }: PolicyTextProps): ReactNode {
  return (
    <TextField value={text} onChange={onChange} isInvalid={fault !== undefined}>
      <Label>Policy (JSON)</Label>
      <TextArea className="input area mono policy-area" rows={16} spellCheck={false} />
      {fault !== undefined && (
        <p className="fault" role="alert">
          {fault.path !== "" && <code>{visible(fault.path)}</code>} {visible(fault.message)} {visible(fault.hint)}
        </p>
      )}
    </TextField>
  );
}

function inForceText(isUnsaved: boolean): string {
  return isUnsaved ? "In force, but not saved: a reload brings the last saved policy back" : "In force";
}

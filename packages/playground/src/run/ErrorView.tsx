import { type CallFailure, type ErrorCode, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { costText } from "../app/words.ts";
import type { ClientFault } from "../client/kernel-client.ts";
import { Button } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Json } from "../ui/Json.tsx";
import { Notice } from "../ui/Notice.tsx";
import { ErrorPageLink } from "./ErrorPageLink.tsx";

/** Refusals that a person can lift by changing the policy. */
const governed: ReadonlySet<ErrorCode> = new Set(["CAPABILITY_DENIED", "POLICY_DENIED"]);

interface ErrorViewProps {
  readonly result: CallFailure;
  readonly onOpenPolicy: () => void;
  /** Leads to the decision, and to the changes that would alter it. */
  readonly onDecision: () => void;
}

export function ErrorView({ result, onOpenPolicy, onDecision }: ErrorViewProps): ReactNode {
  const { code, message, hint, operatorHint, details, retryable } = result.error;
  const cost = costText(result.meta);
  return (
    <>
      <Notice
        tone={code === "CANCELLED" ? "warn" : "bad"}
        title={message}
        urgent
        actions={
          <>
            {governed.has(code) && (
              <>
                <Button look="primary" icon="decide" onPress={onDecision}>
                  What would change this
                </Button>
                <Button icon="sliders" onPress={onOpenPolicy}>
                  Open the policy
                </Button>
              </>
            )}
            <ErrorPageLink code={code} />
          </>
        }
      >
        <HintText reader="For the caller and its model" hint={hint} />
        <HintText reader="For the operator" hint={operatorHint} />
        {cost !== "" && <p>Until then it had used {cost}.</p>}
        <p className="bar error-code">
          <code>{code}</code>
          {retryable && <span className="muted"> · the same call can succeed later</span>}
          <CopyButton text={JSON.stringify(result.error, undefined, 2)} what="the error" />
        </p>
      </Notice>
      {hasContent(details) && (
        <details className="details">
          <summary>Details</summary>
          <Json value={details} label="Details of the error" />
        </details>
      )}
    </>
  );
}

function HintText({ reader, hint }: { readonly reader: string; readonly hint: string }): ReactNode {
  return (
    hint !== "" && (
      <p>
        <span className="muted">{reader}:</span> {visible(hint)}
      </p>
    )
  );
}

function hasContent(details: unknown): boolean {
  return typeof details === "object" && details !== null && Object.keys(details).length > 0;
}

export function BrokenView({
  fault,
  onReconnect,
}: {
  readonly fault: ClientFault;
  readonly onReconnect: () => void;
}): ReactNode {
  return (
    <Notice tone="bad" title={fault.message} actions={<Button onPress={onReconnect}>Connect again</Button>}>
      {mayHaveRun.has(fault.kind) && <p>The call may have run. Look for its effects before you call again.</p>}
      <p>{visible(fault.hint)}</p>
    </Notice>
  );
}

/** Faults that can come after the kernel took the call. The hint of `left` says it. */
const mayHaveRun: ReadonlySet<ClientFault["kind"]> = new Set(["unreachable", "protocol"]);

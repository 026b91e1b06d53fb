import type { ApprovalRequest } from "@keyhole/kernel";
import { canonicalize } from "@keyhole/kernel/canonical";
import { type ReactNode, useEffect, useState } from "react";
import { Dialog, Heading, Input, Label, Modal, ModalOverlay, TextField } from "react-aria-components";
import { effectTexts, tierText, tierTones } from "../app/words.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Json } from "../ui/Json.tsx";
import type { Approvals } from "./useApprovals.ts";

const approver = "playground";

/** Nothing has the focus that would allow: neither Enter nor a stray click says yes. */
export function ApprovalDialog({ question }: { readonly question: Approvals["question"] }): ReactNode {
  const deny = (reason: string): void =>
    question?.answer({ answer: "deny", approver, ...(reason !== "" && { reason }) });
  return (
    <ModalOverlay
      className="overlay centered"
      isOpen={question !== undefined}
      onOpenChange={(open) => !open && deny("The dialog was dismissed.")}
    >
      <Modal className="dialog">
        <Dialog className="dialog-body" role="alertdialog">
          {question !== undefined && (
            <Question
              key={question.request.approvalId}
              request={question.request}
              onAllow={(scope) => question.answer({ answer: "allow", scope, approver })}
              onDeny={deny}
            />
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

interface QuestionProps {
  readonly request: ApprovalRequest;
  readonly onAllow: (scope: "once" | "session") => void;
  readonly onDeny: (reason: string) => void;
}

function Question({ request, onAllow, onDeny }: QuestionProps): ReactNode {
  const [reason, setReason] = useState("");
  const leftMs = useLeftMs(request.expiresAt);
  const isOver = leftMs <= 0;
  return (
    <>
      <header className="dialog-head">
        <Heading slot="title">
          Allow <code>{request.tool}</code> to run?
        </Heading>
        <p className="dialog-reason">{request.reason}</p>
      </header>
      <div className="dialog-content">
        <Facts request={request} />
        <h3>Exact arguments</h3>
        <Json value={canonicalForm(request)} label="Exact arguments" />
        <p className="hint hash">
          <code>{request.argsHash}</code>
        </p>
        <TextField className="field" value={reason} onChange={setReason}>
          <Label className="label">
            Reason for denying <span className="optional">optional</span>
          </Label>
          <Input className="input" autoComplete="off" maxLength={500} />
        </TextField>
      </div>
      <footer className="dialog-actions">
        <span className="countdown" data-urgent={leftMs < 15_000 || undefined}>
          {isOver ? "Expired" : `Expires in ${clockText(leftMs)}`}
        </span>
        <Button look="danger" onPress={() => onDeny(reason)}>
          Deny
        </Button>
        <Button onPress={() => onAllow("session")} isUnavailable={isOver}>
          Allow for this session
        </Button>
        <Button look="primary" onPress={() => onAllow("once")} isUnavailable={isOver}>
          Allow once
        </Button>
      </footer>
    </>
  );
}

function Facts({ request }: { readonly request: ApprovalRequest }): ReactNode {
  const { tier, risk, effects, grants, description } = request;
  return (
    <dl className="facts">
      <dt>Does</dt>
      <dd>{description}</dd>
      <dt>Tier</dt>
      <dd>
        <Badge tone={tierTones[tier]}>{tierText(tier)}</Badge>
        {risk !== null && <Badge>{risk} risk</Badge>}
      </dd>
      <dt>Effects</dt>
      <dd>{effects.length === 0 ? "None" : effects.map((effect) => effectTexts[effect]).join(", ")}</dd>
      <dt>May use</dt>
      <dd>
        {grants.length === 0 ? (
          "No capability"
        ) : (
          <ul className="plain-list mono">
            {grants.map((grant) => (
              <li key={grant}>{grant}</li>
            ))}
          </ul>
        )}
      </dd>
    </dl>
  );
}

/** In the order in which they are hashed. */
function canonicalForm({ input }: ApprovalRequest): unknown {
  const canonical = canonicalize(input);
  return canonical.ok ? JSON.parse(canonical.text) : input;
}

function useLeftMs(expiresAt: string): number {
  const end = Date.parse(expiresAt);
  const [left, setLeft] = useState(() => end - Date.now());
  useEffect(() => {
    const timer = setInterval(() => setLeft(end - Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [end]);
  return left;
}

function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

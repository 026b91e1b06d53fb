import { policy as policyOf, type PolicyDocument, visible } from "@keyhole/kernel";
import { diffPolicies, type PolicyDifference } from "@keyhole/kernel/policy";
import { type ReactNode, useMemo, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Button } from "../ui/Button.tsx";
import { DiffView } from "../ui/DiffView.tsx";
import { Notice } from "../ui/Notice.tsx";
import { readPolicy } from "./edit.ts";
import { formatDocument } from "./format.ts";

interface ApplyDialogProps {
  /** The policy in force, as text. */
  readonly inForce: string;
  readonly document: PolicyDocument;
  /** A sentence on calls of the session. */
  readonly simulated: string;
  /** A policy of another tab would be replaced. */
  readonly warning: string | undefined;
  readonly onApply: () => Promise<boolean>;
  readonly onClose: () => void;
}

/** Shows the effect of a draft before its application. */
export function ApplyDialog(props: ApplyDialogProps): ReactNode {
  const { inForce, document, simulated, warning, onApply, onClose } = props;
  const [isBusy, setBusy] = useState(false);
  const apply = async (): Promise<void> => {
    setBusy(true);
    await onApply();
    onClose();
  };
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(isOpen) => !isOpen && onClose()} isDismissable>
      <Modal className="dialog policy-apply">
        <Dialog className="dialog-body">
          <header className="stack-s dialog-head">
            <Heading className="wrap" slot="title">
              Apply this policy?
            </Heading>
            <p className="wrap muted">{simulated}</p>
          </header>
          <div className="stack-l dialog-content">
            {warning !== undefined && <Notice tone="warn" title={warning} />}
            <Effects inForce={inForce} document={document} />
            <h3>Lines</h3>
            <DiffView before={inForce} after={formatDocument(document)} label="Changed lines of the policy" />
          </div>
          <footer className="bar sunken over dialog-actions">
            <Button onPress={onClose}>Go on editing</Button>
            <Button look="primary" onPress={() => void apply()} isUnavailable={isBusy}>
              Apply
            </Button>
          </footer>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Fewer than the command makes: a person waits for the dialog. The dialog names each omission. */
const mostTests = 400_000;
const mostSentences = 12;

function Effects({ inForce, document }: { readonly inForce: string; readonly document: PolicyDocument }): ReactNode {
  const difference = useMemo(() => differenceOf(inForce, document), [inForce, document]);
  if (difference === undefined) return null;
  const { allows, denies, asks, limits, capped } = difference;
  const isPartial = capped.length > 0;
  return (
    <>
      <h3>Every call, not only those of this session</h3>
      {!difference.differs && (
        <p>
          {isPartial ? "The comparison found no call that is decided otherwise." : "Every call is decided as before."}
        </p>
      )}
      <Sentences title="Becomes allowed" tone="allow" texts={allows.map(({ sentence }) => sentence)} />
      <Sentences title="Becomes asked" tone="ask" texts={asks.map(({ sentence }) => sentence)} />
      <Sentences title="Becomes refused" tone="deny" texts={denies.map(({ sentence }) => sentence)} />
      <Sentences title="Limits" tone="ask" texts={limits.map(({ sentence }) => sentence)} />
      {isPartial && (
        <p className="hint">
          The comparison stopped early, so there can be more: {visible(capped.map(({ reason }) => reason).join(" "))}{" "}
          The command <code>keyhole policy diff</code> compares longer.
        </p>
      )}
    </>
  );
}

function Sentences({
  title,
  tone,
  texts,
}: {
  title: string;
  tone: "allow" | "ask" | "deny";
  texts: readonly string[];
}): ReactNode {
  if (texts.length === 0) return null;
  return (
    <section className="wrap policy-effect" data-tone={tone} aria-label={title}>
      <h4>{title}</h4>
      <ul>
        {texts.slice(0, mostSentences).map((text) => (
          <li key={text}>{visible(readable(text))}</li>
        ))}
        {texts.length > mostSentences && <li className="hint">and {texts.length - mostSentences} more</li>}
      </ul>
    </section>
  );
}

/** The comparison calls the policies A and B. */
function readable(sentence: string): string {
  return sentence
    .replaceAll("`", "")
    .replace(/^B /, "The draft ")
    .replace(/(\. )A /, "$1The policy in force ");
}

function differenceOf(inForce: string, document: PolicyDocument): PolicyDifference | undefined {
  const before = readPolicy(inForce);
  if (!before.ok) return undefined;
  const [a, b] = [policyOf(before.document), policyOf(document)];
  return a.ok && b.ok ? diffPolicies(a.value, b.value, mostTests) : undefined;
}

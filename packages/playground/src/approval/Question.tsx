import { type ApprovalAnswer, type ApprovalRequest, type JsonValue, type ToolSummary, visible } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { canonicalize } from "@keyhole/kernel/canonical";
import { argumentRows, questionSentence } from "@keyhole/kernel/policy";
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { asObject } from "../form/resolve.ts";
import { Input, Label, TextArea, TextField } from "../ui/TextField.tsx";
import { Button } from "../ui/Button.tsx";
import { LongText } from "../ui/LongText.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Segmented } from "../ui/Segmented.tsx";
import { shortHash } from "../ui/short-hash.ts";
import type { AllowedCall } from "./allowed-before.ts";
import { AllowButtons, type AnswerKind, answers, answersOf, answersToBody, approver, parse } from "./answers.tsx";
import { Arguments } from "./Arguments.tsx";
import { clockText, useLeftMs } from "./clock.ts";
import { Facts } from "./Facts.tsx";
import { PatternAnswer, usePattern } from "./PatternAnswer.tsx";
import { PasskeyNote } from "./PasskeyNote.tsx";
import type { Place } from "./useApprovals.ts";
import { type Deliberate, useDeliberate } from "./useDeliberate.ts";
import { usePasskey } from "./usePasskey.ts";
import { useSeen } from "./useSeen.tsx";
import type { Armed } from "./answer-keys.ts";
import { KeysNote } from "./KeysNote.tsx";
import { type KeyState, useQuestionKeys } from "./useQuestionKeys.ts";

/** Id of the heading, which names the dialog. */
export const questionTitle = "question-title";

const restingText = "The button appeared under the pointer. Move the pointer, then press again.";

interface QuestionProps {
  readonly request: ApprovalRequest;
  readonly place: Place;
  /** Absent where the page does not know it. */
  readonly tool: ToolSummary | undefined;
  /** The approval before this one. */
  readonly before: AllowedCall | undefined;
  /** Where its values stood before. */
  readonly origins?: ReactNode;
  readonly onAnswer: (answer: ApprovalAnswer) => void;
}

export function Question({ request, place, tool, before, origins, onAnswer }: QuestionProps): ReactNode {
  const [reason, setReason] = useState("");
  const shown = useMemo(() => canonicalForm(request), [request]);
  const scope = useScope(request, shown, tool);
  const leftMs = useLeftMs(request.expiresAt);
  const heading = useRef<HTMLHeadingElement>(null);
  const deliberate = useDeliberate(heading);
  const passkey = usePasskey(request, onAnswer);
  const isBound = useMemo(() => isBoundTo(request), [request]);
  useEffect(() => {
    // The button of the answered question has left, and the focus must not go to the next one's.
    if (place.number > 1) heading.current?.focus();
  }, [place.number]);
  const deny = (): void => onAnswer({ answer: "deny", approver, ...(reason !== "" && { reason }) });
  const rows = useMemo(() => argumentRows(shown), [shown]);
  const seen = useSeen(rows);
  const mayAllow = seen.left === 0 && deliberate.isReady && leftMs > 0 && isBound && !passkey.isWaiting;
  const allowed = useMemo(() => before && argumentRows(canonicalForm(before)), [before]);
  const keys = useQuestionKeys({
    heading,
    deliberate,
    deny,
    edit: () => scope.setKind("edit"),
    allow: mayAllow && scope.kind === "shown" ? allowingKeys(request, passkey.give) : {},
  });
  return (
    <div className="column question">
      <QuestionHead request={request} place={place} headingRef={heading} />
      <div className="stack-l dialog-content">
        <p className="wrap dialog-sentence">{questionSentence(request, tool?.manifest)}</p>
        <p className="wrap muted">
          <LongText text={request.reason} what="the reason" lines={3} />
        </p>
        <Arguments all={rows} before={allowed} seen={seen} />
        <Compared before={before} />
        {origins}
        <Binding argsHash={request.argsHash} isBound={isBound} />
        <Facts request={request} />
        <ScopeChoice request={request} scope={scope} />
        <DenialReason reason={reason} onChange={setReason} />
        <PasskeyNote request={request} passkey={passkey} />
      </div>
      <Actions
        isShown={scope.kind === "shown"}
        deliberate={deliberate}
        leftMs={leftMs}
        unseen={seen.left}
        keys={keys}
        mayAllow={mayAllow}
        answers={answersOf(scope.kind, request, scope.pattern.pattern, scope.edited)}
        onDeny={deny}
        onAnswer={passkey.give}
      />
    </div>
  );
}

function Compared({ before }: Pick<QuestionProps, "before">): ReactNode {
  if (before === undefined) return null;
  const time = new Date(before.at).toLocaleTimeString("en-GB");
  return <p className="hint">Compared with the call that you allowed at {time}.</p>;
}

function isBoundTo({ argsHash, input }: ApprovalRequest): boolean {
  return hashOf(argsHash)?.jsonOrFault(input) === argsHash;
}

interface Scope {
  readonly kind: AnswerKind;
  readonly setKind: (kind: AnswerKind) => void;
  readonly pattern: ReturnType<typeof usePattern>;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly edited: ReturnType<typeof parse>;
}

function useScope(request: ApprovalRequest, shown: JsonValue, tool: ToolSummary | undefined): Scope {
  const [kind, setKind] = useState<AnswerKind>("shown");
  const [text, setText] = useState(() => visible(JSON.stringify(shown, undefined, 2)));
  const known = useMemo(() => asObject(tool?.manifest.input["properties"]), [tool]);
  return { kind, setKind, pattern: usePattern(request, known), text, setText, edited: parse(text) };
}

/** The scope of an approval. */
function ScopeChoice({ request, scope }: Pick<QuestionProps, "request"> & { readonly scope: Scope }): ReactNode {
  const { kind, setKind, pattern, text, setText, edited } = scope;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // It opens below what was in sight, and its button is live.
    if (kind !== "shown") place.current?.scrollIntoView({ block: "start" });
  }, [kind]);
  return (
    <div ref={place} className="stack-m question-scope">
      <Segmented
        label="What to allow"
        value={kind}
        options={request.hasBody ? answersToBody : answers}
        onChange={setKind}
      />
      {kind === "pattern" && <PatternAnswer request={request} state={pattern} />}
      {kind === "edit" && <OtherArguments text={text} onChange={setText} fault={edited.fault} />}
    </div>
  );
}

interface ActionsProps extends Pick<QuestionProps, "onAnswer"> {
  readonly deliberate: Deliberate;
  readonly leftMs: number;
  /** Arguments whose end was not in sight. */
  readonly unseen: number;
  readonly keys: KeyState;
  readonly mayAllow: boolean;
  readonly answers: ReturnType<typeof answersOf>;
  /** The answer is for the shown arguments: only that has keys. */
  readonly isShown: boolean;
  readonly onDeny: () => void;
}

function Actions(props: ActionsProps): ReactNode {
  const { deliberate, leftMs, unseen, keys, mayAllow, answers: given, isShown, onDeny, onAnswer } = props;
  const left = leftMs > 0 ? `Expires in ${clockText(leftMs)}` : "Expired";
  return (
    <footer className="bar sunken over dialog-actions">
      <span className="hint num countdown" data-urgent={leftMs < 15_000 || undefined}>
        {deliberate.isResting ? restingText : left}
        {unseen > 0 && `. Scroll to allow it: ${unseen} ${unseen === 1 ? "argument" : "arguments"} not seen.`}
      </span>

      <Button look="danger" onPress={onDeny}>
        Deny
      </Button>
      <AllowButtons answers={given} mayAllow={mayAllow} guard={deliberate.guard} onAnswer={onAnswer} />
      <KeysNote keys={keys} scopes={given.length} isShown={isShown} />
    </footer>
  );
}

/** Two keys: the second one confirms the first. */
function allowingKeys(
  { hasBody }: ApprovalRequest,
  give: (answer: ApprovalAnswer) => void,
): Partial<Record<Armed, () => void>> {
  const allow = (scope: Armed) => (): void => give({ answer: "allow", scope, approver });
  return hasBody ? { once: allow("once") } : { once: allow("once"), session: allow("session") };
}

interface QuestionHeadProps extends Pick<QuestionProps, "request" | "place"> {
  readonly headingRef: RefObject<HTMLHeadingElement | null>;
}

function QuestionHead({ request, place, headingRef }: QuestionHeadProps): ReactNode {
  return (
    <header className="stack-s dialog-head">
      {place.total > 1 && (
        <p className="hint">
          Question {place.number} of {place.total}
        </p>
      )}
      <h2 className="wrap" id={questionTitle} ref={headingRef} tabIndex={-1}>
        Allow <code>{visible(request.tool)}</code> to run?
      </h2>
    </header>
  );
}

function Binding({ argsHash, isBound }: { readonly argsHash: string; readonly isBound: boolean }): ReactNode {
  return isBound ? (
    <p className="hint">
      A yes is for exactly these arguments:{" "}
      <span className="hash-chip" title={visible(argsHash)}>
        <code>{visible(shortHash(argsHash))}</code> <span className="small hash-tick">✓ recomputed</span>
      </span>
    </p>
  ) : (
    <Notice tone="bad" title="These arguments do not match the request's hash" urgent>
      <p>An approval would be for other arguments than the ones above. The call cannot be allowed.</p>
    </Notice>
  );
}

interface DenialReasonProps {
  readonly reason: string;
  readonly onChange: (reason: string) => void;
}

function DenialReason({ reason, onChange }: DenialReasonProps): ReactNode {
  return (
    <TextField value={reason} onChange={onChange}>
      <Label>
        Reason for denying <span className="optional">optional</span>
      </Label>
      <Input className="input" autoComplete="off" maxLength={500} />
    </TextField>
  );
}

interface OtherArgumentsProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly fault: string;
}

function OtherArguments({ text, onChange, fault }: OtherArgumentsProps): ReactNode {
  return (
    <TextField value={text} onChange={onChange} isInvalid={fault !== ""}>
      <Label>Other arguments, as JSON</Label>
      <TextArea className="input area mono json-area" rows={6} spellCheck={false} />
      {fault === "" ? (
        <p className="hint">The call starts again with them, and asks again where the policy says so.</p>
      ) : (
        <p className="fault">This is not JSON: {visible(fault)}</p>
      )}
    </TextField>
  );
}

/** In the order of the hash. */
function canonicalForm({ input }: Pick<ApprovalRequest, "input">): JsonValue {
  const canonical = canonicalize(input);
  return canonical.ok ? (JSON.parse(canonical.text) as JsonValue) : input;
}

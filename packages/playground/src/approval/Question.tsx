import { type ApprovalAnswer, type ApprovalRequest, type JsonObject, type JsonValue, visible } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { canonicalize } from "@keyhole/kernel/canonical";
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { Input, Label, TextArea, TextField } from "../ui/TextField.tsx";
import { effectText } from "../app/capability-words.ts";
import { tierText, tierTones } from "../app/words.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { LongText } from "../ui/LongText.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Segmented } from "../ui/Segmented.tsx";
import { Arguments, argumentsOf } from "./Arguments.tsx";
import { PatternAnswer, usePattern } from "./PatternAnswer.tsx";
import { PasskeyNote } from "./PasskeyNote.tsx";
import type { Place } from "./useApprovals.ts";
import { type Deliberate, useDeliberate } from "./useDeliberate.ts";
import { usePasskey } from "./usePasskey.ts";

export const approver = "playground";

const answers = [
  { value: "shown", text: "As shown" },
  { value: "pattern", text: "A pattern" },
  { value: "edit", text: "Edited" },
] as const;

/** The next body is another one: nothing is allowed beyond this call. */
const answersToBody = answers.filter(({ value }) => value !== "pattern");

type AnswerKind = (typeof answers)[number]["value"];

/** Id of the heading, which names the dialog. */
export const questionTitle = "question-title";

const restingText = "The button appeared under the pointer. Move the pointer, then press again.";

interface QuestionProps {
  readonly request: ApprovalRequest;
  readonly place: Place;
  /** The properties of the tool's input schema. */
  readonly known: JsonObject;
  readonly onAnswer: (answer: ApprovalAnswer) => void;
}

export function Question({ request, place, known, onAnswer }: QuestionProps): ReactNode {
  const [kind, setKind] = useState<AnswerKind>("shown");
  const [reason, setReason] = useState("");
  const shown = useMemo(() => canonicalForm(request), [request]);
  const [text, setText] = useState(() => visible(JSON.stringify(shown, undefined, 2)));
  const edited = parse(text);
  const state = usePattern(request, known);
  const leftMs = useLeftMs(request.expiresAt);
  const isOver = !(leftMs > 0);
  const heading = useRef<HTMLHeadingElement>(null);
  const deliberate = useDeliberate(heading);
  const passkey = usePasskey(request, onAnswer);
  const isBound = useMemo(() => hashOf(request.argsHash)?.jsonOrFault(request.input) === request.argsHash, [request]);
  useEffect(() => {
    // The button that answered the question before is gone, and the focus must not go to the next one's.
    if (place.number > 1) heading.current?.focus();
  }, [place.number]);
  return (
    <>
      <QuestionHead request={request} place={place} headingRef={heading} />
      <div className="dialog-content">
        <p className="dialog-reason">
          <LongText text={request.reason} what="the reason" lines={3} />
        </p>
        <Arguments all={argumentsOf(shown)} />
        <Binding argsHash={request.argsHash} isBound={isBound} />
        <Facts request={request} />
        <Segmented
          label="What to allow"
          value={kind}
          options={request.hasBody ? answersToBody : answers}
          onChange={setKind}
        />
        {kind === "pattern" && <PatternAnswer request={request} state={state} />}
        {kind === "edit" && <OtherArguments text={text} onChange={setText} fault={edited.fault} />}
        <DenialReason reason={reason} onChange={setReason} />
        <PasskeyNote request={request} passkey={passkey} />
      </div>
      <footer className="dialog-actions">
        <span className="countdown" data-urgent={leftMs < 15_000 || undefined}>
          {deliberate.isResting ? restingText : isOver ? "Expired" : `Expires in ${clockText(leftMs)}`}
        </span>
        <Button look="danger" onPress={() => onAnswer({ answer: "deny", approver, ...(reason !== "" && { reason }) })}>
          Deny
        </Button>
        <AllowButtons
          answers={answersOf(kind, request, state.pattern, edited)}
          mayAllow={deliberate.isReady && !isOver && isBound && !passkey.isWaiting}
          guard={deliberate.guard}
          onAnswer={passkey.give}
        />
      </footer>
    </>
  );
}

/** A button that allows the call. */
interface Allowing {
  readonly text: string;
  /** Absent where the person has to fill in something first. */
  readonly answer: ApprovalAnswer | undefined;
}

/** What can be answered besides a denial; the last one is the one that is meant. */
function answersOf(
  kind: AnswerKind,
  { hasBody }: ApprovalRequest,
  pattern: Extract<ApprovalAnswer, { scope: "pattern" }>["pattern"],
  edited: Parsed,
): readonly Allowing[] {
  switch (kind) {
    case "shown": {
      const once: Allowing = { text: "Allow once", answer: { answer: "allow", scope: "once", approver } };
      const session = { answer: "allow", scope: "session", approver } as const;
      return hasBody ? [once] : [{ text: "Allow for this session", answer: session }, once];
    }
    case "pattern": {
      const answer = { answer: "allow", scope: "pattern", pattern, approver } as const;
      return [{ text: "Allow what fits", answer: pattern.length === 0 ? undefined : answer }];
    }
    case "edit": {
      const answer = edited.ok ? ({ answer: "edit", input: edited.value, approver } as const) : undefined;
      return [{ text: "Start again with these", answer }];
    }
  }
}

interface AllowButtonsProps extends Pick<Deliberate, "guard">, Pick<QuestionProps, "onAnswer"> {
  readonly answers: readonly Allowing[];
  readonly mayAllow: boolean;
}

function AllowButtons({ answers, mayAllow, guard, onAnswer }: AllowButtonsProps): ReactNode {
  return answers.map(({ text, answer }, index) => (
    <Button
      key={text}
      {...(index === answers.length - 1 && { look: "primary" })}
      onPress={guard(() => answer && onAnswer(answer))}
      isUnavailable={!mayAllow || answer === undefined}
    >
      {text}
    </Button>
  ));
}

interface QuestionHeadProps extends Pick<QuestionProps, "request" | "place"> {
  readonly headingRef: RefObject<HTMLHeadingElement | null>;
}

function QuestionHead({ request, place, headingRef }: QuestionHeadProps): ReactNode {
  return (
    <header className="dialog-head">
      {place.total > 1 && (
        <p className="hint">
          Question {place.number} of {place.total}
        </p>
      )}
      <h2 id={questionTitle} ref={headingRef} tabIndex={-1}>
        Allow <code>{visible(request.tool)}</code> to run?
      </h2>
    </header>
  );
}

function Binding({ argsHash, isBound }: { readonly argsHash: string; readonly isBound: boolean }): ReactNode {
  return isBound ? (
    <p className="hint hash">
      <code>{visible(argsHash)}</code>
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

function Facts({ request }: { readonly request: ApprovalRequest }): ReactNode {
  const { tier, risk, effects, grants, description, hasBody } = request;
  return (
    <dl className="facts">
      <dt>Does</dt>
      <dd>
        <LongText text={description} what="the description" />
      </dd>
      {hasBody && (
        <>
          <dt>Body</dt>
          <dd>Bytes come with this call that cannot be shown here.</dd>
        </>
      )}
      <dt>Tier</dt>
      <dd>
        <Badge tone={tierTones[tier]}>{tierText(tier)}</Badge>
        {risk !== null && <Badge>{visible(risk)} risk</Badge>}
      </dd>
      <dt>Effects</dt>
      <dd>{effects.length === 0 ? "None" : effects.map((effect) => effectText(effect)).join(", ")}</dd>
      <dt>May use</dt>
      <dd>
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
      </dd>
    </dl>
  );
}

/** In the order in which they are hashed. */
function canonicalForm({ input }: ApprovalRequest): JsonValue {
  const canonical = canonicalize(input);
  return canonical.ok ? (JSON.parse(canonical.text) as JsonValue) : input;
}

type Parsed =
  | { readonly ok: true; readonly value: JsonValue; readonly fault: "" }
  | { readonly ok: false; readonly fault: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue, fault: "" };
  } catch (error) {
    return { ok: false, fault: error instanceof Error ? error.message : String(error) };
  }
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

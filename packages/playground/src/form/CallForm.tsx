import type { JsonValue, ToolSummary } from "@keyhole/kernel";
import { type ReactNode, type RefObject, type SubmitEvent, useEffect, useMemo, useRef, useState } from "react";
import { isApple } from "../app/keys.ts";
import { useAnnounce } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { FormContext } from "./context.ts";
import { ExampleButton } from "./ExampleButton.tsx";
import { FileField } from "./FileField.tsx";
import { Field, ObjectBody } from "./Field.tsx";
import { GroupFault } from "./FieldFrame.tsx";
import { type Foresee, Foresight } from "./Foresight.tsx";
import { JsonPane } from "./JsonPane.tsx";
import { resolve } from "./resolve.ts";
import { shapeOf } from "./schema.ts";
import { type CallInput, useCallInput } from "./useCallInput.ts";
import { hasTooManyFields, mostFields } from "./value.ts";
import { useLink } from "./useLink.ts";

interface CallFormProps {
  readonly tool: ToolSummary;
  /** Input of the shown call. */
  readonly seed: JsonValue | undefined;
  readonly foresee: Foresee | undefined;
  readonly isRunning: boolean;
  readonly isCancelling: boolean;
  readonly onRun: (input: JsonValue, body?: Blob) => void;
  readonly onCancel: () => void;
}

export function CallForm({ tool, seed, foresee, isRunning, isCancelling, onRun, onCancel }: CallFormProps): ReactNode {
  const element = useRef<HTMLFormElement>(null);
  const refuse = useRefusal(element);
  const input = useCallInput(tool, seed, refuse);
  const chosen = useChosenFile(refuse);
  const link = useLink(element);
  useSubmitKey(element);

  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (isRunning) return;
    const value = input.take();
    if (value === undefined) return;
    if (!tool.manifest.body) return onRun(value);
    const file = chosen.take();
    if (file) onRun(value, file);
  };

  return (
    <form
      ref={element}
      className="call-form"
      onSubmit={submit}
      noValidate
      aria-label={`Input of ${tool.manifest.name}`}
    >
      <div className="stack call-fields" onFocus={link.onFocus}>
        {!isRunning && <ExampleButton tool={tool} fills={input.fills} onFill={input.fillIn} />}
        <FormBody tool={tool} input={input} />
        {tool.manifest.body && (
          <FileField
            mediaType={tool.manifest.body.mediaType}
            file={chosen.file}
            isMissing={chosen.isMissing}
            onChoose={chosen.choose}
          />
        )}
      </div>
      <JsonPane input={input} linked={link.linked} onCaret={link.onCaret} />
      <div className="bar surface over call-foot">
        {foresee && <Foresight foresee={foresee} input={input.ready} />}
        <RunActions isRunning={isRunning} isCancelling={isCancelling} onCancel={onCancel} />
      </div>
    </form>
  );
}

/** Says why nothing runs, and takes the focus to the first field that is in the way. */
function useRefusal(element: RefObject<HTMLFormElement | null>): (message: string) => void {
  const announce = useAnnounce();
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    if (refusals === 0) return undefined;
    // React draws the faults right after this.
    const timer = setTimeout(() => showFirstFault(element.current));
    return () => clearTimeout(timer);
  }, [element, refusals]);
  return (message) => {
    announce(message);
    setRefusals((count) => count + 1);
  };
}

function showFirstFault(form: HTMLElement | null): void {
  const inTheWay = form?.querySelector<HTMLElement>("[aria-invalid=true]");
  for (let at = inTheWay?.closest("details"); at; at = at.parentElement?.closest("details")) at.open = true;
  inTheWay?.focus();
}

interface ChosenFile {
  readonly file: File | undefined;
  readonly isMissing: boolean;
  readonly choose: (file: File) => void;
  /** `undefined`: none was chosen, which was refused. */
  readonly take: () => File | undefined;
}

function useChosenFile(refuse: (message: string) => void): ChosenFile {
  const [file, setFile] = useState<File>();
  const [isMissing, setMissing] = useState(false);
  return {
    file,
    isMissing,
    choose(chosen) {
      setFile(chosen);
      setMissing(false);
    },
    take() {
      if (file) return file;
      setMissing(true);
      refuse("The tool works on a file, and none is chosen");
      return undefined;
    },
  };
}

type RunActionsProps = Pick<CallFormProps, "isRunning" | "isCancelling" | "onCancel">;

function RunActions({ isRunning, isCancelling, onCancel }: RunActionsProps): ReactNode {
  const runButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isRunning) return undefined;
    const run = runButton.current;
    return () => {
      // Cancel had the focus and has left.
      if (document.activeElement === document.body) run?.focus({ preventScroll: true });
    };
  }, [isRunning]);
  return (
    <div className="bar">
      <Button ref={runButton} look="primary" icon="play" type="submit" isUnavailable={isRunning}>
        Run
        <kbd aria-hidden="true">{isApple ? "⌘" : "Ctrl"} ↵</kbd>
      </Button>
      {isRunning && (
        <Button look="danger" icon="stop" onPress={onCancel} isUnavailable={isCancelling}>
          {isCancelling ? "Cancelling…" : "Cancel"}
        </Button>
      )}
    </div>
  );
}

/** Control and Enter send the form from any of its fields, also where Enter alone starts a line, and from what stands beside it. */
function useSubmitKey(element: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const form = element.current;
    const bench = form?.closest("main");
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isOtherField(event.target, form)) return;
      event.preventDefault();
      form?.requestSubmit();
    };
    bench?.addEventListener("keydown", onKeyDown);
    return () => bench?.removeEventListener("keydown", onKeyDown);
  }, [element]);
}

/** A field of the form's neighbours, such as a search, has keys of its own. */
function isOtherField(target: EventTarget | null, form: HTMLFormElement | null): boolean {
  if (!(target instanceof Element) || form?.contains(target) === true) return false;
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function FormBody({ tool, input }: { readonly tool: ToolSummary; readonly input: CallInput }): ReactNode {
  const { draft, change } = input;
  const root = tool.manifest.input;
  const resolved = useMemo(() => resolve(root, root), [root]);
  const shape = useMemo(() => shapeOf(resolved, root, 0), [resolved, root]);
  const isTooLarge = useMemo(() => hasTooManyFields(root, draft.value), [root, draft.value]);
  const whole = { name: "input", path: "", required: true, value: draft.value, onChange: change, depth: 0 };
  if (isTooLarge) return <p className="hint">This input has more than {mostFields} fields. Edit it as JSON.</p>;
  return (
    <FormContext value={draft.form}>
      {shape.kind !== "object" ? (
        <Field {...whole} schema={{ title: "Input", ...resolved }} />
      ) : shape.members.length > 0 ? (
        <ObjectBody {...whole} shape={shape} />
      ) : shape.extra === undefined ? (
        <p className="hint">
          {tool.manifest.body ? "This tool takes a file, and no other input." : "This tool takes no input."}
        </p>
      ) : (
        <Field {...whole} schema={{ title: "Input", ...resolved }} />
      )}
      {shape.kind === "object" && shape.members.length > 0 && <GroupFault path="" />}
    </FormContext>
  );
}

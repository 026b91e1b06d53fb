import { type JsonValue, type ToolSummary, visible } from "@keyhole/kernel";
import { type ReactNode, type RefObject, type SubmitEvent, useEffect, useMemo, useRef, useState } from "react";
import { Tab, TabList, TabPanel, Tabs, TextArea, TextField } from "react-aria-components";
import { useAnnounce } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { FormContext } from "./context.ts";
import { ExampleButton } from "./ExampleButton.tsx";
import { FileField } from "./FileField.tsx";
import { Members } from "./Field.tsx";
import { FaultText, GroupFault } from "./FieldFrame.tsx";
import { type Foresee, Foresight } from "./Foresight.tsx";
import { JsonField } from "./ScalarFields.tsx";
import { resolve, shapeOf } from "./schema.ts";
import { type CallInput, useCallInput } from "./useCallInput.ts";
import { hasTooManyFields, mostFields } from "./value.ts";
import type { DraftState } from "./useDraft.ts";

interface CallFormProps {
  readonly tool: ToolSummary;
  /** Input of the call that is shown. */
  readonly seed: JsonValue | undefined;
  readonly foresee: Foresee | undefined;
  readonly isRunning: boolean;
  readonly isCancelling: boolean;
  readonly onRun: (input: JsonValue, body?: Blob) => void;
  readonly onCancel: () => void;
}

const modifier = /Mac|iP(?:hone|ad)/.test(navigator.userAgent) ? "⌘" : "Ctrl";

export function CallForm({ tool, seed, foresee, isRunning, isCancelling, onRun, onCancel }: CallFormProps): ReactNode {
  const element = useRef<HTMLFormElement>(null);
  const refuse = useRefusal(element);
  const input = useCallInput(tool, seed, refuse);
  const chosen = useChosenFile(refuse);
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
      <InputTabs tool={tool} input={input} />
      {tool.manifest.body && (
        <FileField
          mediaType={tool.manifest.body.mediaType}
          file={chosen.file}
          isMissing={chosen.isMissing}
          onChoose={chosen.choose}
        />
      )}
      <div className="call-foot">
        {foresee && <Foresight foresee={foresee} input={input.ready} />}
        <RunActions isRunning={isRunning} isCancelling={isCancelling} onCancel={onCancel}>
          <ExampleButton input={tool.manifest.input} fills={input.fills} onFill={input.fillIn} />
        </RunActions>
      </div>
    </form>
  );
}

/** Says why nothing runs, and takes the focus to the first field that is in the way. */
function useRefusal(element: RefObject<HTMLFormElement | null>): (message: string) => void {
  const announce = useAnnounce();
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    if (refusals > 0)
      element.current?.querySelector<HTMLElement>("[aria-invalid=true], [data-invalid] button")?.focus();
  }, [element, refusals]);
  return (message) => {
    announce(message);
    setRefusals((count) => count + 1);
  };
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

function InputTabs({ tool, input }: { readonly tool: ToolSummary; readonly input: CallInput }): ReactNode {
  const { draft, fault, fills } = input;
  return (
    <Tabs
      className="tabs"
      selectedKey={input.view}
      onSelectionChange={(key) => input.show(key === "json" ? "json" : "form")}
    >
      <TabList className="tab-list" aria-label="How to write the input">
        <Tab id="form" className="tab">
          Form
        </Tab>
        <Tab id="json" className="tab">
          JSON
        </Tab>
      </TabList>
      <TabPanel id="form" className="tab-panel">
        {/* Fields of numbers and of JSON keep what a person types: filled in anew, they start anew. */}
        <FormBody key={fills} tool={tool} draft={draft} />
      </TabPanel>
      <TabPanel id="json" className="tab-panel">
        <TextField
          className="field"
          aria-label="Input as JSON"
          value={input.text}
          onChange={input.type}
          isInvalid={fault !== ""}
          validationBehavior="aria"
        >
          <TextArea className="input area mono json-area" rows={10} spellCheck={false} />
          {fault === "" ? <JsonErrors draft={draft} /> : <p className="fault">This is not JSON: {visible(fault)}</p>}
        </TextField>
      </TabPanel>
    </Tabs>
  );
}

interface RunActionsProps extends Pick<CallFormProps, "isRunning" | "isCancelling" | "onCancel"> {
  /** Beside the button, while nothing runs. */
  readonly children: ReactNode;
}

function RunActions({ isRunning, isCancelling, onCancel, children }: RunActionsProps): ReactNode {
  const runButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isRunning) return undefined;
    const run = runButton.current;
    return () => {
      // Cancel had the focus and is gone.
      if (document.activeElement === document.body) run?.focus({ preventScroll: true });
    };
  }, [isRunning]);
  return (
    <div className="actions">
      <Button ref={runButton} look="primary" icon="play" type="submit" isUnavailable={isRunning}>
        Run
      </Button>
      {isRunning ? (
        <Button look="danger" icon="stop" onPress={onCancel} isUnavailable={isCancelling}>
          {isCancelling ? "Cancelling…" : "Cancel"}
        </Button>
      ) : (
        <>
          <span className="hint keys" aria-hidden="true">
            <kbd>{modifier}</kbd> <kbd>Enter</kbd>
          </span>
          {children}
        </>
      )}
    </div>
  );
}

/** Control and Enter send the form from any field, also where Enter alone starts a line. */
function useSubmitKey(element: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const form = element.current;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      form?.requestSubmit();
    };
    form?.addEventListener("keydown", onKeyDown);
    return () => form?.removeEventListener("keydown", onKeyDown);
  }, [element]);
}

function FormBody({ tool, draft }: { readonly tool: ToolSummary; readonly draft: DraftState }): ReactNode {
  const root = tool.manifest.input;
  const shape = shapeOf(resolve(root, root), root, 0);
  const isTooLarge = useMemo(() => hasTooManyFields(root, draft.value), [root, draft.value]);
  return (
    <FormContext value={draft.form}>
      {isTooLarge && <p className="hint">This input has more than {mostFields} fields. It is edited as JSON.</p>}
      {!isTooLarge && shape.kind === "object" && shape.members.length > 0 ? (
        <Members members={shape.members} path="" value={draft.value} onChange={draft.change} depth={0} />
      ) : !isTooLarge && shape.kind === "object" && shape.extra === undefined ? (
        <p className="hint">
          {tool.manifest.body ? "This tool takes a file, and no other input." : "This tool takes no input."}
        </p>
      ) : (
        <JsonField
          name="input"
          label="Input"
          description={undefined}
          path=""
          required
          value={draft.value}
          onChange={draft.change}
        />
      )}
      <GroupFault path="" />
    </FormContext>
  );
}

/** The kernel gets the JSON as it is written, so that its own refusal can be seen; this only tells beforehand. */
function JsonErrors({ draft }: { readonly draft: DraftState }): ReactNode {
  return draft.errors.length === 0 ? (
    <p className="hint">Sent to the kernel as it is.</p>
  ) : (
    <div className="fault">
      {draft.errors.map(({ path, message, hint }) => (
        <FaultText key={path + message} message={`${path === "" ? "The input" : path}: ${message}`} hint={hint} />
      ))}
    </div>
  );
}

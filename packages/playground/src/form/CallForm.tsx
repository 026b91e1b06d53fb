import type { JsonObject, JsonValue, ToolSummary } from "@keyhole/kernel";
import { type ReactNode, type RefObject, type SubmitEvent, useEffect, useRef, useState } from "react";
import { Tab, TabList, TabPanel, Tabs, TextArea, TextField } from "react-aria-components";
import { useAnnounce } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { FormContext } from "./context.ts";
import { ExampleButton } from "./ExampleButton.tsx";
import { FileField } from "./FileField.tsx";
import { Members } from "./Field.tsx";
import { FaultText, GroupFault } from "./FieldFrame.tsx";
import { JsonField } from "./ScalarFields.tsx";
import { resolve, shapeOf } from "./schema.ts";
import { type DraftState, useDraft } from "./useDraft.ts";
import { visible } from "../ui/visible.ts";

interface CallFormProps {
  readonly tool: ToolSummary;
  readonly isRunning: boolean;
  readonly isCancelling: boolean;
  readonly onRun: (input: JsonValue, body?: Blob) => void;
  readonly onCancel: () => void;
}

const modifier = /Mac|iP(?:hone|ad)/.test(navigator.userAgent) ? "⌘" : "Ctrl";

type View = "form" | "json";

export function CallForm({ tool, isRunning, isCancelling, onRun, onCancel }: CallFormProps): ReactNode {
  const draft = useDraft(tool);
  const [view, setView] = useState<View>("form");
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const [refusals, setRefusals] = useState(0);
  const [fills, setFills] = useState(0);
  const [file, setFile] = useState<File>();
  const [isFileMissing, setFileMissing] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  useSubmitKey(element);
  const runButton = useRef<HTMLButtonElement>(null);
  const announce = useAnnounce();

  useEffect(() => {
    if (refusals > 0)
      element.current?.querySelector<HTMLElement>("[aria-invalid=true], [data-invalid] button")?.focus();
  }, [refusals]);

  useEffect(() => {
    if (!isRunning) return undefined;
    const run = runButton.current;
    return () => {
      // Cancel had the focus and is gone.
      if (document.activeElement === document.body) run?.focus({ preventScroll: true });
    };
  }, [isRunning]);

  const show = (next: View): void => {
    if (next === "json") setText(jsonText(draft.value));
    setFault("");
    setView(next);
  };

  const refuse = (message: string): void => {
    announce(message);
    setRefusals((count) => count + 1);
  };

  const send = (input: JsonValue): void => {
    if (!tool.manifest.body) return onRun(input);
    if (file) return onRun(input, file);
    setFileMissing(true);
    refuse("The tool works on a file, and none is chosen");
  };

  const runForm = (): void => {
    const count = draft.errors.length;
    if (count === 0 && !draft.isUnreadable) return send(draft.value ?? {});
    draft.showAll();
    refuse(count === 1 ? "One field needs attention" : `${Math.max(1, count)} fields need attention`);
  };

  const runText = (): void => {
    const parsed = parse(text);
    if (parsed.ok) return send(parsed.value);
    setFault(parsed.message);
    refuse("The input is not JSON");
  };

  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!isRunning) (view === "form" ? runForm : runText)();
  };

  const changeText = (typed: string): void => {
    setText(typed);
    setFault("");
    const parsed = parse(typed);
    if (parsed.ok) draft.change(parsed.value);
  };

  const fillIn = (filled: JsonObject): void => {
    draft.change(filled);
    setFills((count) => count + 1);
    setText(jsonText(filled));
    setFault("");
    announce("The input is an example now");
  };

  return (
    <form
      ref={element}
      className="call-form"
      onSubmit={submit}
      noValidate
      aria-label={`Input of ${tool.manifest.name}`}
    >
      <Tabs className="tabs" selectedKey={view} onSelectionChange={(key) => show(key === "json" ? "json" : "form")}>
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
            value={text}
            onChange={changeText}
            isInvalid={fault !== ""}
            validationBehavior="aria"
          >
            <TextArea className="input area mono json-area" rows={10} spellCheck={false} />
            {fault === "" ? <JsonErrors draft={draft} /> : <p className="fault">This is not JSON: {visible(fault)}</p>}
          </TextField>
        </TabPanel>
      </Tabs>
      {tool.manifest.body && (
        <FileField
          mediaType={tool.manifest.body.mediaType}
          file={file}
          isMissing={isFileMissing}
          onChoose={(chosen) => {
            setFile(chosen);
            setFileMissing(false);
          }}
        />
      )}
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
            <ExampleButton input={tool.manifest.input} fills={fills} onFill={fillIn} />
          </>
        )}
      </div>
    </form>
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
  return (
    <FormContext value={draft.form}>
      {shape.kind === "object" && shape.members.length > 0 ? (
        <Members members={shape.members} path="" value={draft.value} onChange={draft.change} depth={0} />
      ) : shape.kind === "object" && shape.extra === undefined ? (
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

type Parsed = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly message: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** With escapes in place of invisible characters: the same JSON. */
function jsonText(value: unknown): string {
  return visible(JSON.stringify(value, undefined, 2) ?? "");
}

import { type JsonValue, visible } from "@keyhole/kernel";
import { type ReactNode, useEffect, useId, useState } from "react";
import { Choice } from "../ui/Choice.tsx";
import { FieldError, Input, TextArea, TextField } from "../ui/TextField.tsx";
import { type FieldProps, useForm } from "./context.ts";
import { FieldDescription, FieldFault, FieldLabel, GroupDescription, GroupFault, useInvalid } from "./FieldFrame.tsx";
import { inputTypeOf, readTyped, writeTyped } from "./formats.ts";
import type { Option, TextForm } from "./schema.ts";
import { useTyped } from "./useTyped.ts";
import { type Draft, labelOf } from "./value.ts";

interface TextualProps extends FieldProps<Draft> {
  readonly text: TextForm;
}

export function TextualField({ text, ...field }: TextualProps): ReactNode {
  const { onLeave } = useForm();
  const { path, label, description, required, value, onChange } = field;
  const { lines, secret, examples, format } = text;
  const given = value === undefined ? "" : labelOf(value);
  const type = inputTypeOf(format, given);
  const placeholder = visible(examples[0] ?? "");
  const change = (typed: string): void =>
    onChange(typed === "" && (!required || type !== "text") ? undefined : readTyped(type, typed));
  return (
    <TextField
      value={writeTyped(type, given)}
      onChange={change}
      onBlur={() => onLeave(path)}
      isInvalid={useInvalid(path)}
      isRequired={required}
      type={secret ? "password" : type}
    >
      <FieldLabel label={label} required={required} />
      {lines === "one" ? (
        <div className="row">
          <Input
            className="input"
            placeholder={placeholder}
            spellCheck={false}
            autoComplete="off"
            {...(type === "time" && { step: 1 })}
          />
          {format === "color" && <Swatch label={label} text={given} onChange={onChange} />}
        </div>
      ) : (
        <TextArea className="input area" rows={lines === "many" ? 3 : 1} placeholder={placeholder} spellCheck={false} />
      )}
      <FieldDescription>{description}</FieldDescription>
      {(type === "time" || type === "datetime-local") && <p className="hint">In UTC.</p>}
      <Hidden value={value} />
      <FieldFault path={path} />
    </TextField>
  );
}

/** The browser's picker of colours. It has a colour always: the text beside it names the absent value. */
function Swatch({
  label,
  text,
  onChange,
}: {
  readonly label: string;
  readonly text: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  return (
    <input
      type="color"
      className="input swatch"
      aria-label={`Pick ${label}`}
      value={/^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : "#000000"}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/** A field shows text as it is, with what an example or the clipboard brought. */
function Hidden({ value }: { readonly value: Draft }): ReactNode {
  if (typeof value !== "string" || visible(value) === value) return null;
  return (
    <p className="hint">
      This text contains invisible characters: <code className="wrap">{visible(value)}</code>
    </p>
  );
}

/** Keeps the text as a person types it. Text that is no number stays text, and the schema reports the fault. */
export function NumericField({
  path,
  label,
  description,
  required,
  value,
  onChange,
  integer,
}: FieldProps<Draft> & { readonly integer: boolean }): ReactNode {
  const { onLeave } = useForm();
  const [text, setText] = useTyped<Draft>(value, readNumber, writeNumber);
  return (
    <TextField
      value={text}
      onChange={(typed) => {
        setText(typed);
        onChange(readNumber(typed));
      }}
      onBlur={() => onLeave(path)}
      isInvalid={useInvalid(path)}
      isRequired={required}
    >
      <FieldLabel label={label} required={required} />
      <Input className="input" inputMode={integer ? "numeric" : "decimal"} autoComplete="off" />
      <FieldDescription>{description}</FieldDescription>
      <FieldFault path={path} />
    </TextField>
  );
}

function readNumber(typed: string): Draft {
  const trimmed = typed.trim();
  const number = Number(trimmed);
  return trimmed === "" ? undefined : Number.isFinite(number) ? number : typed;
}

function writeNumber(value: Draft): string {
  return value === undefined ? "" : labelOf(value);
}

export function BooleanField({ path, label, description, required, value, onChange }: FieldProps<Draft>): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label className="line checkbox">
        <input
          type="checkbox"
          checked={value === true}
          ref={(box) => {
            if (box !== null) box.indeterminate = value === undefined && !required;
          }}
          aria-describedby={`${id}-hint`}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        <span className="bar label">{label}</span>
      </label>
      <div id={`${id}-hint`}>
        <GroupDescription>{description}</GroupDescription>
      </div>
      <GroupFault path={path} />
    </div>
  );
}

const unset = "unset";

export function ChoiceField({
  path,
  label,
  description,
  required,
  value,
  onChange,
  options,
}: FieldProps<Draft> & { readonly options: readonly Option[] }): ReactNode {
  const { onLeave } = useForm();
  const items = options.map(({ text }, index) => ({ id: String(index), text }));
  const isInvalid = useInvalid(path);
  const given = JSON.stringify(value);
  const chosen = options.findIndex((option) => JSON.stringify(option.value) === given);
  // The value in the JSON may be none of the options: the field does not show another one in its place.
  const isOther = chosen < 0 && value !== undefined;
  return (
    <div className="field">
      <Choice
        label={label}
        optional={!required}
        options={required ? items : [{ id: unset, text: "Not set" }, ...items]}
        value={chosen >= 0 ? String(chosen) : required || isOther ? undefined : unset}
        placeholder={isOther ? `${labelOf(value).slice(0, 60)} (none of these)` : "Choose…"}
        onChange={(id) => onChange(id === unset ? undefined : options[Number(id)]?.value)}
        onBlur={() => onLeave(path)}
        isInvalid={isInvalid}
      />
      <GroupDescription>{description}</GroupDescription>
      <GroupFault path={path} />
    </div>
  );
}

/** The form sets the only value. */
export function FixedField({ label, path, value }: FieldProps<Draft>): ReactNode {
  return (
    <div className="field">
      <p className="line fixed">
        <span className="bar label">{label}</span>{" "}
        <code>{visible(value === undefined ? "not set" : labelOf(value))}</code>
      </p>
      <GroupFault path={path} />
    </div>
  );
}

/** For what has no better form: the value itself. */
export function JsonField({ path, label, description, required, value, onChange }: FieldProps<Draft>): ReactNode {
  const { onLeave, onUnreadable } = useForm();
  const [fault, setFault] = useState("");
  // Text that is no JSON yet has no value to compare.
  const [text, setText] = useTyped<Draft>(value, fault === "" ? readJson : () => value, writeJson);
  const isInvalid = useInvalid(path) || fault !== "";

  useEffect(() => () => onUnreadable(path, false), [path, onUnreadable]);

  const change = (typed: string): void => {
    setText(typed);
    try {
      onChange(typed.trim() === "" ? undefined : (JSON.parse(typed) as JsonValue));
      setFault("");
      onUnreadable(path, false);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      onUnreadable(path, true);
    }
  };
  return (
    <TextField value={text} onChange={change} onBlur={() => onLeave(path)} isInvalid={isInvalid} isRequired={required}>
      <FieldLabel label={`${label} (JSON)`} required={required} />
      <TextArea className="input area mono" rows={3} spellCheck={false} />
      <FieldDescription>{description}</FieldDescription>
      {fault === "" ? <FieldFault path={path} /> : <FieldError>This is not JSON yet: {visible(fault)}</FieldError>}
    </TextField>
  );
}

function readJson(text: string): Draft {
  try {
    return text.trim() === "" ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

function writeJson(value: Draft): string {
  return value === undefined ? "" : visible(JSON.stringify(value, undefined, 2));
}

import { type JsonValue, visible } from "@keyhole/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { CheckboxButton, CheckboxField, FieldError, Input, TextArea, TextField } from "react-aria-components";
import { Choice } from "../ui/Choice.tsx";
import { Icon } from "../ui/icons.tsx";
import { type FieldProps, useForm } from "./context.ts";
import { FieldDescription, FieldFault, FieldLabel, GroupDescription, GroupFault, useInvalid } from "./FieldFrame.tsx";
import type { Lines } from "./schema.ts";
import { type Draft, labelOf } from "./value.ts";

interface TextualProps extends FieldProps<Draft> {
  readonly lines: Lines;
  readonly secret: boolean;
  readonly examples: readonly string[];
}

export function TextualField({ lines, secret, examples, ...field }: TextualProps): ReactNode {
  const { onLeave } = useForm();
  const { path, label, description, required, value, onChange } = field;
  const placeholder = visible(examples[0] ?? "");
  return (
    <TextField
      className="field"
      value={value === undefined ? "" : labelOf(value)}
      onChange={(text) => onChange(text === "" && !required ? undefined : text)}
      onBlur={() => onLeave(path)}
      isInvalid={useInvalid(path)}
      isRequired={required}
      validationBehavior="aria"
      type={secret ? "password" : "text"}
    >
      <FieldLabel label={label} required={required} />
      {lines === "one" ? (
        <Input className="input" placeholder={placeholder} spellCheck={false} autoComplete="off" />
      ) : (
        <TextArea className="input area" rows={lines === "many" ? 3 : 1} placeholder={placeholder} spellCheck={false} />
      )}
      <FieldDescription>{description}</FieldDescription>
      <Hidden value={value} />
      <FieldFault path={path} />
    </TextField>
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

/** What is typed stays as it is typed; what is no number goes on as text, and the schema says what is wrong with it. */
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
  const [text, setText] = useState(value === undefined ? "" : labelOf(value));
  const change = (typed: string): void => {
    setText(typed);
    const trimmed = typed.trim();
    const number = Number(trimmed);
    onChange(trimmed === "" ? undefined : Number.isFinite(number) ? number : typed);
  };
  return (
    <TextField
      className="field field-short"
      value={text}
      onChange={change}
      onBlur={() => onLeave(path)}
      isInvalid={useInvalid(path)}
      isRequired={required}
      validationBehavior="aria"
    >
      <FieldLabel label={label} required={required} />
      <Input className="input" inputMode={integer ? "numeric" : "decimal"} autoComplete="off" />
      <FieldDescription>{description}</FieldDescription>
      <FieldFault path={path} />
    </TextField>
  );
}

export function BooleanField({ path, label, description, required, value, onChange }: FieldProps<Draft>): ReactNode {
  return (
    <CheckboxField
      className="field"
      isSelected={value === true}
      isIndeterminate={value === undefined && !required}
      onChange={onChange}
    >
      <CheckboxButton className="checkbox">
        <span className="checkbox-box" aria-hidden="true">
          <Icon name="check" />
        </span>
        <span className="label">{label}</span>
      </CheckboxButton>
      <FieldDescription>{description}</FieldDescription>
      <GroupFault path={path} />
    </CheckboxField>
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
}: FieldProps<Draft> & { readonly options: readonly JsonValue[] }): ReactNode {
  const { onLeave } = useForm();
  const items = options.map((option, index) => ({ id: String(index), text: labelOf(option) }));
  const chosen = options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value));
  return (
    <div className="field field-short">
      <Choice
        label={label}
        optional={!required}
        options={required ? items : [{ id: unset, text: "Not set" }, ...items]}
        value={chosen >= 0 ? String(chosen) : required ? undefined : unset}
        onChange={(id) => onChange(id === unset ? undefined : options[Number(id)])}
        onBlur={() => onLeave(path)}
        isInvalid={useInvalid(path)}
      />
      <GroupDescription>{description}</GroupDescription>
      <GroupFault path={path} />
    </div>
  );
}

/** For what has no better form: the value itself. */
export function JsonField({ path, label, description, required, value, onChange }: FieldProps<Draft>): ReactNode {
  const { onLeave, onUnreadable } = useForm();
  const [text, setText] = useState(value === undefined ? "" : visible(JSON.stringify(value, undefined, 2)));
  const [fault, setFault] = useState("");
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
    <TextField
      className="field"
      value={text}
      onChange={change}
      onBlur={() => onLeave(path)}
      isInvalid={isInvalid}
      isRequired={required}
      validationBehavior="aria"
    >
      <FieldLabel label={`${label} (JSON)`} required={required} />
      <TextArea className="input area mono" rows={3} spellCheck={false} />
      <FieldDescription>{description}</FieldDescription>
      {fault === "" ? (
        <FieldFault path={path} />
      ) : (
        <FieldError className="fault">This is not JSON yet: {visible(fault)}</FieldError>
      )}
    </TextField>
  );
}

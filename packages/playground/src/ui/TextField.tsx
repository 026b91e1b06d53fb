import { visible } from "@keyhole/kernel";
import { type ComponentProps, createContext, type ReactNode, useContext, useId, useMemo } from "react";
import { Icon } from "./icons.tsx";
import { IconButton } from "./Button.tsx";

interface Field {
  readonly id: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onBlur: (() => void) | undefined;
  readonly isInvalid: boolean;
  readonly isRequired: boolean;
  readonly label: string | undefined;
  readonly type: string;
}

const FieldContext = createContext<Field | undefined>(undefined);

interface TextFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onBlur?: () => void;
  readonly isInvalid?: boolean;
  readonly isRequired?: boolean;
  /** Where no {@link Label} stands in it. */
  readonly "aria-label"?: string;
  readonly type?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A label, an input and what is said about it, which belong together: each knows the others by the field's id. */
export function TextField(props: TextFieldProps): ReactNode {
  const { value, onChange, onBlur, isInvalid = false, isRequired = false, type = "text", className = "field" } = props;
  const { "aria-label": label, children } = props;
  const id = useId();
  const field = useMemo(
    () => ({ id, value, onChange, onBlur, isInvalid, isRequired, label, type }),
    [id, value, onChange, onBlur, isInvalid, isRequired, label, type],
  );
  return (
    <div className={className}>
      <FieldContext value={field}>{children}</FieldContext>
    </div>
  );
}

function useField(): Field {
  const field = useContext(FieldContext);
  if (field === undefined) throw new Error("A part of a field stands outside of one.");
  return field;
}

export function Label({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <label className="bar label" htmlFor={useField().id}>
      {children}
    </label>
  );
}

type Own = "id" | "value" | "onChange" | "onBlur";

export function Input(props: Omit<ComponentProps<"input">, Own>): ReactNode {
  const field = useField();
  const { onChange, type } = field;
  return (
    <input type={type} {...props} {...partsOf(field)} onChange={({ currentTarget }) => onChange(currentTarget.value)} />
  );
}

export function TextArea(props: Omit<ComponentProps<"textarea">, Own>): ReactNode {
  const field = useField();
  const { onChange } = field;
  return <textarea {...props} {...partsOf(field)} onChange={({ currentTarget }) => onChange(currentTarget.value)} />;
}

function partsOf({ id, value, onBlur, isInvalid, isRequired, label }: Field) {
  return {
    id,
    value,
    onBlur,
    "aria-label": label,
    "aria-invalid": isInvalid || undefined,
    "aria-required": isRequired || undefined,
    "aria-describedby": `${id}-hint ${id}-fault`,
  };
}

/** The purpose of the field. */
export function FieldHint({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <p className="hint" id={`${useField().id}-hint`}>
      {children}
    </p>
  );
}

/** The fault, while there is one. */
export function FieldError({ children }: { readonly children: ReactNode }): ReactNode {
  const { id, isInvalid } = useField();
  return isInvalid ? (
    <p className="fault" id={`${id}-fault`}>
      {children}
    </p>
  ) : null;
}

interface SearchFieldProps extends Omit<ComponentProps<"input">, "value" | "onChange" | "className" | "type"> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly className?: string;
  /** The key that leads here. */
  readonly shortcut?: string;
}

/** Escape empties it. */
export function SearchField(props: SearchFieldProps): ReactNode {
  const { label, value, onChange, className = "line search", shortcut, onKeyDown, ...rest } = props;
  return (
    <div className={className} data-empty={value === "" || undefined}>
      <Icon name="search" />
      <input
        {...rest}
        type="search"
        className="box search-input"
        aria-label={visible(label)}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        onKeyDown={(event) => {
          onKeyDown?.(event);
          if (event.key !== "Escape" || event.shiftKey || value === "") return;
          event.stopPropagation();
          onChange("");
        }}
      />
      {shortcut !== undefined && value === "" && <kbd aria-hidden="true">{shortcut}</kbd>}
      {value !== "" && (
        <span className="search-clear">
          <IconButton icon="close" label="Clear search" tabIndex={-1} onPress={() => onChange("")} />
        </span>
      )}
    </div>
  );
}

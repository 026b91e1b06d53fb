import { visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Inline } from "../ui/Markdown.tsx";
import { FieldError, FieldHint, Label } from "../ui/TextField.tsx";
import { useFaults } from "./context.ts";

interface FieldLabelProps {
  readonly label: string;
  readonly required: boolean;
}

export function FieldLabel({ label, required }: FieldLabelProps): ReactNode {
  return (
    <Label>
      {label}
      <Need required={required} />
    </Label>
  );
}

/** For a group that is no single control. */
export function GroupLabel({ label, required, id }: FieldLabelProps & { readonly id: string }): ReactNode {
  return (
    <span className="bar label" id={id}>
      {label}
      <Need required={required} />
    </span>
  );
}

function Need({ required }: Pick<FieldLabelProps, "required">): ReactNode {
  return <span className="optional">{required ? "required" : "optional"}</span>;
}

export function FieldDescription({ children }: { readonly children: string | undefined }): ReactNode {
  return children === undefined ? null : (
    <FieldHint>
      <Inline text={children} />
    </FieldHint>
  );
}

/** The same where no text field is around. */
export function GroupDescription({ children }: { readonly children: string | undefined }): ReactNode {
  return children === undefined ? null : (
    <p className="hint">
      <Inline text={children} />
    </p>
  );
}

/** The fault of a text field, and the next step. */
export function FieldFault({ path }: { readonly path: string }): ReactNode {
  const faults = useFaults(path);
  return (
    <FieldError>
      {faults.map(({ message, hint }) => (
        <FaultText key={message} message={message} hint={hint} />
      ))}
    </FieldError>
  );
}

/** The same where no text field is around: lists, groups, the form itself. */
export function GroupFault({ path }: { readonly path: string }): ReactNode {
  const faults = useFaults(path);
  return faults.length === 0 ? null : (
    <div className="fault" role="alert">
      {faults.map(({ message, hint }) => (
        <FaultText key={message} message={message} hint={hint} />
      ))}
    </div>
  );
}

export function FaultText({ message, hint }: { readonly message: string; readonly hint: string }): ReactNode {
  return (
    <span className="fault-line">
      {visible(message)}
      {hint !== "" && <span className="fault-hint"> {visible(hint)}</span>}
    </span>
  );
}

export function useInvalid(path: string): boolean {
  return useFaults(path).length > 0;
}

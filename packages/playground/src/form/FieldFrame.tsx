import type { ReactNode } from "react";
import { FieldError, Label, Text } from "react-aria-components";
import { Inline } from "../ui/Markdown.tsx";
import { useForm } from "./context.ts";
import { visible } from "@keyhole/kernel";

interface FieldLabelProps {
  readonly label: string;
  readonly required: boolean;
}

export function FieldLabel({ label, required }: FieldLabelProps): ReactNode {
  return (
    <Label className="label">
      {label}
      {!required && <span className="optional">optional</span>}
    </Label>
  );
}

/** For a group that is no single control. */
export function GroupLabel({ label, required, id }: FieldLabelProps & { readonly id: string }): ReactNode {
  return (
    <span className="label" id={id}>
      {label}
      {!required && <span className="optional">optional</span>}
    </span>
  );
}

export function FieldDescription({ children }: { readonly children: string | undefined }): ReactNode {
  return children === undefined ? null : (
    <Text slot="description" className="hint">
      <Inline text={children} />
    </Text>
  );
}

/** The same where no field of react-aria is around. */
export function GroupDescription({ children }: { readonly children: string | undefined }): ReactNode {
  return children === undefined ? null : (
    <p className="hint">
      <Inline text={children} />
    </p>
  );
}

/** What is wrong with a field, and what to do about it. Inside a field of react-aria it is announced with it. */
export function FieldFault({ path }: { readonly path: string }): ReactNode {
  const faults = useForm().errors.filter((error) => error.path === path);
  return (
    <FieldError className="fault">
      {faults.map(({ message, hint }) => (
        <FaultText key={message} message={message} hint={hint} />
      ))}
    </FieldError>
  );
}

/** The same where no field of react-aria is around: lists, groups, the form itself. */
export function GroupFault({ path }: { readonly path: string }): ReactNode {
  const faults = useForm().errors.filter((error) => error.path === path);
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
  return useForm().errors.some((error) => error.path === path);
}

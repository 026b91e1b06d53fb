import type { JsonObject } from "@keyhole/kernel";
import { createContext, useContext } from "react";
import type { FieldError } from "./errors.ts";

export interface FormState {
  readonly root: JsonObject;
  /** Only those that are to be seen by now. */
  readonly errors: readonly FieldError[];
  /** The person left the field. */
  readonly onLeave: (path: string) => void;
  /** The field holds text that is no value yet: the form cannot be sent. */
  readonly onUnreadable: (path: string, unreadable: boolean) => void;
}

export const FormContext = createContext<FormState>({
  root: {},
  errors: [],
  onLeave: () => {},
  onUnreadable: () => {},
});

export function useForm(): FormState {
  return useContext(FormContext);
}

export interface FieldProps<Value> {
  readonly name: string;
  readonly path: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

import type { JsonObject } from "@keyhole/kernel";
import { createContext, useCallback, useContext, useSyncExternalStore } from "react";
import type { FieldError } from "./errors.ts";
import { Faults } from "./faults.ts";
import type { Draft } from "./value.ts";

/** It stays the same object while a person types, so that a key draws one field anew and not all of them. */
export interface FormState {
  readonly root: JsonObject;
  /** Only those that the person may see by now. */
  readonly faults: Faults;
  /** The person left the field. */
  readonly onLeave: (path: string) => void;
  /** The field holds text that is no value yet: the person cannot send the form. */
  readonly onUnreadable: (path: string, unreadable: boolean) => void;
}

export const FormContext = createContext<FormState>({
  root: {},
  faults: new Faults(),
  onLeave: () => {},
  onUnreadable: () => {},
});

export function useForm(): FormState {
  return useContext(FormContext);
}

/** The fault of the field. */
export function useFaults(path: string): readonly FieldError[] {
  const { faults } = useForm();
  const read = useCallback(() => faults.at(path), [faults, path]);
  return useSyncExternalStore(faults.subscribe, read, read);
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

/** The properties of a field of any schema. */
export interface AnyFieldProps extends Omit<FieldProps<Draft>, "label" | "description"> {
  readonly schema: JsonObject;
  readonly depth: number;
}

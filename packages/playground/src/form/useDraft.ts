import type { JsonObject, JsonValue, ToolSummary } from "@keyhole/kernel";
import { compileSchema, type Validator } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";
import { useCallback, useLayoutEffect, useMemo, useState } from "react";
import type { FormState } from "./context.ts";
import { errorsWithin, type FieldError, placeErrors } from "./errors.ts";
import { Faults } from "./faults.ts";
import { type Draft, initialValue } from "./value.ts";

export interface DraftState {
  readonly value: Draft;
  readonly change: (value: Draft) => void;
  readonly form: FormState;
  /** Every error, seen or not. */
  readonly errors: readonly FieldError[];
  /** From now on the form shows every error. */
  readonly showAll: () => void;
  readonly isUnreadable: boolean;
}

/** Drafts outlive the form, so that a person can look at another tool and come back. Written only when a person types. */
const drafts = new Map<string, Draft>();

/** @param seed the values of the fields before a person types */
export function useDraft(tool: ToolSummary, seed?: JsonValue): DraftState {
  const root = tool.manifest.input;
  const validator = useMemo(() => validatorOf(root), [root]);
  const [value, setValue] = useState<Draft>(() => drafts.get(tool.id) ?? seed ?? initialValue(root, root, true) ?? {});
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const [unreadable, setUnreadable] = useState<ReadonlySet<string>>(new Set());

  const errors = useMemo(() => errorsOf(validator, value), [validator, value]);
  const seen = useMemo(
    () => (all ? errors : [...left].flatMap((path) => errorsWithin(errors, path))),
    [all, left, errors],
  );

  const change = useCallback(
    (next: Draft) => {
      drafts.set(tool.id, next);
      setValue(next);
    },
    [tool.id],
  );
  const onLeave = useCallback(
    (path: string) => setLeft((paths) => (paths.has(path) ? paths : new Set([...paths, path]))),
    [],
  );
  const onUnreadable = useCallback(
    (path: string, is: boolean) => setUnreadable((paths) => toggled(paths, path, is)),
    [],
  );
  const [faults] = useState(() => new Faults());
  useLayoutEffect(() => faults.set(seen), [faults, seen]);
  const form = useMemo(() => ({ root, faults, onLeave, onUnreadable }), [root, faults, onLeave, onUnreadable]);
  return {
    value,
    change,
    form,
    errors,
    showAll: useCallback(() => setAll(true), []),
    isUnreadable: unreadable.size > 0,
  };
}

/** A registered tool's schema compiles; the kernel refuses any other. */
function validatorOf(schema: JsonObject): Validator | undefined {
  const compiled = compileSchema(schema, { explain });
  return compiled.ok ? compiled.validator : undefined;
}

function errorsOf(validator: Validator | undefined, value: Draft): readonly FieldError[] {
  const result = validator?.validate(value ?? null);
  return result === undefined || result.ok ? [] : placeErrors(result.errors, value);
}

function toggled(paths: ReadonlySet<string>, path: string, is: boolean): ReadonlySet<string> {
  if (paths.has(path) === is) return paths;
  return new Set(is ? [...paths, path] : [...paths].filter((each) => each !== path));
}

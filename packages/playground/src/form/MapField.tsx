import type { JsonObject } from "@keyhole/kernel";
import { type ComponentType, type ReactNode, useId, useState } from "react";
import { Input, TextField } from "react-aria-components";
import { Button, IconButton } from "../ui/Button.tsx";
import { type FieldProps, useForm } from "./context.ts";
import { GroupDescription, GroupFault, GroupLabel } from "./FieldFrame.tsx";
import { isObject } from "./schema.ts";
import { type Draft, fromEntries, initialValue, pointerTo } from "./value.ts";

interface Row {
  readonly id: number;
  readonly key: string;
  readonly value: Draft;
}

interface ValueProps {
  readonly name: string;
  readonly schema: JsonObject;
  readonly path: string;
  readonly required: boolean;
  readonly value: Draft;
  readonly onChange: (value: Draft) => void;
  readonly depth: number;
}

interface MapFieldProps extends FieldProps<Draft> {
  readonly values: JsonObject;
  readonly depth: number;
  /** Given, not imported: a map is itself a field. */
  readonly renderValue: ComponentType<ValueProps>;
}

/** Names that the person chooses, such as headers. */
export function MapField({ values, depth, renderValue: Value, ...field }: MapFieldProps): ReactNode {
  const id = useId();
  const { path, label, description, required } = field;
  const { rows, change, add, remove } = useRows(field, values, depth);
  return (
    <fieldset className="group" aria-labelledby={id}>
      <GroupLabel id={id} label={label} required={required} />
      <GroupDescription>{description}</GroupDescription>
      {rows.map((row, index) => (
        <div className="row" key={row.id}>
          <NameField
            name={row.key}
            label={`Name ${index + 1} of ${label}`}
            isTwice={row.key !== "" && rows.some((other) => other.id !== row.id && other.key === row.key)}
            onChange={(key) => change(row.id, { key })}
          />
          <Value
            name={row.key === "" ? "value" : row.key}
            schema={values}
            path={pointerTo(path, row.key)}
            required
            value={row.value}
            onChange={(changed) => change(row.id, { value: changed })}
            depth={depth + 1}
          />
          <IconButton icon="close" label={`Remove ${row.key || `row ${index + 1}`}`} onPress={() => remove(row.id)} />
        </div>
      ))}
      <Button icon="plus" onPress={add}>
        Add to {label}
      </Button>
      <GroupFault path={path} />
    </fieldset>
  );
}

interface Rows {
  readonly rows: readonly Row[];
  readonly change: (id: number, part: Partial<Row>) => void;
  readonly add: () => void;
  readonly remove: (id: number) => void;
}

/** Rows are kept as typed: while a name is half written it may equal another. */
function useRows({ value, required, onChange }: FieldProps<Draft>, values: JsonObject, depth: number): Rows {
  const { root } = useForm();
  const [rows, setRows] = useState<readonly Row[]>(() =>
    isObject(value) ? Object.entries(value).map(([key, each], index) => ({ id: index, key, value: each })) : [],
  );
  const emit = (next: readonly Row[]): void => {
    setRows(next);
    const named = next.filter(({ key }) => key !== "");
    onChange(
      named.length === 0 && !required ? undefined : fromEntries(named.map(({ key, value }) => [key, value] as const)),
    );
  };
  return {
    rows,
    change: (id, part) => emit(rows.map((row) => (row.id === id ? { ...row, ...part } : row))),
    add: () => {
      const next = Math.max(-1, ...rows.map(({ id }) => id)) + 1;
      emit([...rows, { id: next, key: "", value: initialValue(values, root, true, depth + 1) }]);
    },
    remove: (id) => emit(rows.filter((row) => row.id !== id)),
  };
}

interface NameFieldProps {
  readonly name: string;
  readonly label: string;
  readonly isTwice: boolean;
  readonly onChange: (name: string) => void;
}

function NameField({ name, label, isTwice, onChange }: NameFieldProps): ReactNode {
  return (
    <TextField className="field" value={name} onChange={onChange} aria-label={label} isInvalid={isTwice}>
      <Input className="input mono" placeholder="name" autoComplete="off" spellCheck={false} />
      {isTwice && <span className="fault">This name is there twice; the last one counts.</span>}
    </TextField>
  );
}

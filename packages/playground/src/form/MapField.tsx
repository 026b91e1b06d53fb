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

/** Names that the person chooses, such as headers. Rows are kept as typed: while a name is half written it may equal another. */
export function MapField({ values, depth, renderValue: Value, ...field }: MapFieldProps): ReactNode {
  const { root } = useForm();
  const id = useId();
  const { path, label, description, required, value, onChange } = field;
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
  const change = (id: number, part: Partial<Row>): void =>
    emit(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const add = (): void => {
    const next = Math.max(-1, ...rows.map(({ id }) => id)) + 1;
    emit([...rows, { id: next, key: "", value: initialValue(values, root, true, depth + 1) }]);
  };

  return (
    <fieldset className="group" aria-labelledby={id}>
      <GroupLabel id={id} label={label} required={required} />
      <GroupDescription>{description}</GroupDescription>
      {rows.map((row, index) => {
        const isTwice = rows.some((other) => other.id !== row.id && other.key === row.key && row.key !== "");
        return (
          <div className="row" key={row.id}>
            <TextField
              className="field"
              value={row.key}
              onChange={(key) => change(row.id, { key })}
              aria-label={`Name ${index + 1} of ${label}`}
              isInvalid={isTwice}
            >
              <Input className="input mono" placeholder="name" autoComplete="off" spellCheck={false} />
              {isTwice && <span className="fault">This name is there twice; the last one counts.</span>}
            </TextField>
            <Value
              name={row.key === "" ? "value" : row.key}
              schema={values}
              path={pointerTo(path, row.key)}
              required
              value={row.value}
              onChange={(changed) => change(row.id, { value: changed })}
              depth={depth + 1}
            />
            <IconButton
              icon="close"
              label={`Remove ${row.key || `row ${index + 1}`}`}
              onPress={() => emit(rows.filter(({ id }) => id !== row.id))}
            />
          </div>
        );
      })}
      <Button icon="plus" onPress={add}>
        Add to {label}
      </Button>
      <GroupFault path={path} />
    </fieldset>
  );
}

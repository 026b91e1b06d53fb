import { isJsonObject } from "@keyhole/kernel";
import { type ComponentType, type ReactNode, useId, useState } from "react";
import { Button, IconButton } from "../ui/Button.tsx";
import { Input, TextField } from "../ui/TextField.tsx";
import { type AnyFieldProps, type FieldProps, useForm } from "./context.ts";
import { GroupDescription, GroupFault, GroupLabel } from "./FieldFrame.tsx";
import { type Extra, schemaOfExtra } from "./schema.ts";
import { type Draft, fromEntries, initialValue, pointerTo } from "./value.ts";

interface Row {
  readonly id: number;
  readonly key: string;
  readonly value: Draft;
}

interface MapFieldProps extends FieldProps<Draft> {
  readonly extra: Extra;
  /** Members that have fields of their own. */
  readonly named?: readonly string[];
  readonly depth: number;
  /** Given, not imported: a map is itself a field. */
  readonly renderValue: ComponentType<AnyFieldProps>;
}

const noNames: readonly string[] = [];

/** Names that the person chooses, such as headers. */
export function MapField({ extra, named = noNames, depth, renderValue: Value, ...field }: MapFieldProps): ReactNode {
  const id = useId();
  const { path, label, description, required } = field;
  const { rows, change, add, remove } = useRows(field, { extra, named, depth });
  return (
    <fieldset className="group" aria-labelledby={id}>
      <GroupLabel id={id} label={label} required={required} />
      <GroupDescription>{description}</GroupDescription>
      {extra.others === undefined && (
        <p className="hint">
          Names match <code className="wrap">{extra.patterns.map(({ pattern }) => pattern).join(" or ")}</code>.
        </p>
      )}
      {rows.map((row, index) => (
        <div className="row" key={row.id}>
          <NameField
            name={row.key}
            label={`Name ${index + 1} of ${label}`}
            isTwice={
              row.key !== "" &&
              (named.includes(row.key) || rows.some((other) => other.id !== row.id && other.key === row.key))
            }
            onChange={(key) => change(row.id, { key })}
          />
          <Value
            name={row.key === "" ? "value" : row.key}
            schema={schemaOfExtra(extra, row.key)}
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
      {named.length === 0 && <GroupFault path={path} />}
    </fieldset>
  );
}

interface Rows {
  readonly rows: readonly Row[];
  readonly change: (id: number, part: Partial<Row>) => void;
  readonly add: () => void;
  readonly remove: (id: number) => void;
}

interface MapOf {
  readonly extra: Extra;
  readonly named: readonly string[];
  readonly depth: number;
}

/** Rows stay as typed: while a name is half written it may equal another. A value from elsewhere makes them anew. */
function useRows({ value, required, onChange }: FieldProps<Draft>, { extra, named, depth }: MapOf): Rows {
  const { root } = useForm();
  const given = isJsonObject(value) ? Object.entries(value).filter(([key]) => !named.includes(key)) : [];
  const [typed, setTyped] = useState<readonly Row[]>(() => rowsOf(given));
  const isOwn = JSON.stringify(fromEntries(pairsOf(typed, named))) === JSON.stringify(Object.fromEntries(given));
  const rows = isOwn ? typed : rowsOf(given);
  const emit = (next: readonly Row[]): void => {
    setTyped(next);
    const own = isJsonObject(value) ? Object.entries(value).filter(([key]) => named.includes(key)) : [];
    const pairs = [...own, ...pairsOf(next, named)];
    onChange(pairs.length === 0 && !required ? undefined : fromEntries(pairs));
  };
  return {
    rows,
    change: (id, part) => emit(rows.map((row) => (row.id === id ? { ...row, ...part } : row))),
    add: () => {
      const next = Math.max(-1, ...rows.map(({ id }) => id)) + 1;
      emit([...rows, { id: next, key: "", value: initialValue(schemaOfExtra(extra, ""), root, true, depth + 1) }]);
    },
    remove: (id) => emit(rows.filter((row) => row.id !== id)),
  };
}

function rowsOf(entries: readonly (readonly [string, Draft])[]): readonly Row[] {
  return entries.map(([key, value], index) => ({ id: index, key, value }));
}

/** A row does not write over a member that has a field of its own. */
function pairsOf(rows: readonly Row[], named: readonly string[]): readonly (readonly [string, Draft])[] {
  return rows.filter(({ key }) => key !== "" && !named.includes(key)).map(({ key, value }) => [key, value] as const);
}

interface NameFieldProps {
  readonly name: string;
  readonly label: string;
  readonly isTwice: boolean;
  readonly onChange: (name: string) => void;
}

function NameField({ name, label, isTwice, onChange }: NameFieldProps): ReactNode {
  return (
    <TextField className="field name-field" value={name} onChange={onChange} aria-label={label} isInvalid={isTwice}>
      <Input className="input mono" placeholder="name" autoComplete="off" spellCheck={false} />
      {isTwice && <span className="fault">This name is there twice; the last one counts.</span>}
    </TextField>
  );
}

import { type JsonObject, visible } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { type ReactNode, useId, useState } from "react";
import { Button, IconButton } from "../ui/Button.tsx";
import { Choice } from "../ui/Choice.tsx";
import { type FieldProps, useForm } from "./context.ts";
import { GroupDescription, GroupFault, GroupLabel } from "./FieldFrame.tsx";
import { MapField } from "./MapField.tsx";
import { BooleanField, ChoiceField, JsonField, NumericField, TextualField } from "./ScalarFields.tsx";
import { descriptionOf, resolve, shapeOf, titleOf, type Member, type Shape, type Variant } from "./schema.ts";
import { type Draft, initialValue, memberOf, pointerTo, withMember } from "./value.ts";

interface AnyFieldProps {
  readonly name: string;
  readonly schema: JsonObject;
  readonly path: string;
  readonly required: boolean;
  readonly value: Draft;
  readonly onChange: (value: Draft) => void;
  readonly depth: number;
}

/** The field of any schema. */
function Field({ schema, depth, ...rest }: AnyFieldProps): ReactNode {
  const { root } = useForm();
  const resolved = resolve(schema, root);
  const shape = shapeOf(resolved, root, depth);
  const field: FieldProps<Draft> = {
    ...rest,
    label: visible(titleOf(resolved, rest.name)),
    description: descriptionOf(resolved),
  };
  switch (shape.kind) {
    case "text":
      return <TextualField {...field} lines={shape.lines} secret={shape.secret} examples={shape.examples} />;
    case "number":
      return <NumericField {...field} integer={shape.integer} />;
    case "boolean":
      return <BooleanField {...field} />;
    case "choice":
      return <ChoiceField {...field} options={shape.options} />;
    case "object":
      return <ObjectField {...field} shape={shape} schema={resolved} depth={depth} />;
    case "list":
      return <ListField {...field} items={shape.items} most={shape.most} depth={depth} />;
    case "variants":
      return <VariantsField {...field} variants={shape.variants} depth={depth} />;
    case "null":
      return null;
    case "json":
      return <JsonField {...field} />;
  }
}

interface MembersProps {
  readonly members: readonly Member[];
  readonly path: string;
  readonly value: Draft;
  readonly onChange: (value: Draft) => void;
  readonly depth: number;
}

export function Members({ members, path, value, onChange, depth }: MembersProps): ReactNode {
  return members.map(({ name, schema, required }) => (
    <Field
      key={name}
      name={name}
      schema={schema}
      path={pointerTo(path, name)}
      required={required}
      value={memberOf(value, name)}
      onChange={(member) => onChange(withMember(value, name, member))}
      depth={depth + 1}
    />
  ));
}

interface ObjectFieldProps extends FieldProps<Draft> {
  readonly shape: Extract<Shape, { kind: "object" }>;
  readonly schema: JsonObject;
  readonly depth: number;
}

function ObjectField({ shape, schema, depth, ...field }: ObjectFieldProps): ReactNode {
  const { root } = useForm();
  const id = useId();
  const { path, label, description, required, value, onChange } = field;
  if (shape.members.length === 0 && shape.extra !== undefined)
    return <MapField {...field} values={shape.extra} depth={depth} renderValue={Field} />;
  const isPresent = value !== undefined;
  return (
    <fieldset className="group" aria-labelledby={id}>
      <div className="group-head">
        <GroupLabel id={id} label={label} required={required} />
        {isPresent && !required && (
          <IconButton icon="close" label={`Remove ${label}`} onPress={() => onChange(undefined)} />
        )}
      </div>
      <GroupDescription>{description}</GroupDescription>
      {isPresent || required ? (
        <Members members={shape.members} path={path} value={value} onChange={onChange} depth={depth} />
      ) : (
        <Button icon="plus" onPress={() => onChange(initialValue(schema, root, true, depth) ?? {})}>
          Add {label}
        </Button>
      )}
      <GroupFault path={path} />
    </fieldset>
  );
}

function ListField({
  items,
  most,
  depth,
  ...field
}: FieldProps<Draft> & { readonly items: JsonObject; readonly most: number; readonly depth: number }): ReactNode {
  const { root } = useForm();
  const id = useId();
  const { path, label, description, required, value, onChange } = field;
  const list: readonly Draft[] = Array.isArray(value) ? (value as readonly Draft[]) : [];
  const emit = (next: readonly Draft[]): void =>
    onChange(next.length === 0 && !required ? undefined : next.map((item) => item ?? null));
  return (
    <fieldset className="group" aria-labelledby={id}>
      <GroupLabel id={id} label={label} required={required} />
      <GroupDescription>{description}</GroupDescription>
      {list.map((item, index) => (
        // Items have no identity of their own: the key also changes with the length, so that removing one redraws the others.
        <div className="row" key={`${list.length}-${index}`}>
          <Field
            name={`${label} ${index + 1}`}
            schema={items}
            path={pointerTo(path, index)}
            required
            value={item ?? undefined}
            onChange={(changed) => emit(list.map((each, at) => (at === index ? changed : each)))}
            depth={depth + 1}
          />
          <IconButton
            icon="close"
            label={`Remove ${label} ${index + 1}`}
            onPress={() => emit(list.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <Button
        icon="plus"
        isUnavailable={list.length >= most}
        onPress={() => emit([...list, initialValue(items, root, true, depth + 1)])}
      >
        Add to {label}
      </Button>
      <GroupFault path={path} />
    </fieldset>
  );
}

/** References of a variant point into the whole schema. */
function conforms(value: Draft, schema: JsonObject, root: JsonObject): boolean {
  if (value === undefined) return false;
  const definitions = {
    ...(root["$defs"] !== undefined && { $defs: root["$defs"] }),
    ...(root["definitions"] !== undefined && { definitions: root["definitions"] }),
  };
  const compiled = compileSchema({ ...schema, ...definitions });
  return compiled.ok && compiled.validator.check(value);
}

function VariantsField({
  variants,
  depth,
  ...field
}: FieldProps<Draft> & { readonly variants: readonly Variant[]; readonly depth: number }): ReactNode {
  const { root } = useForm();
  const { name, path, label, required, value, onChange } = field;
  const [chosen, setChosen] = useState(() =>
    Math.max(
      0,
      variants.findIndex(({ schema }) => conforms(value, schema, root)),
    ),
  );
  const variant = variants[chosen];
  const choose = (id: string): void => {
    const next = Number(id);
    const schema = variants[next]?.schema;
    setChosen(next);
    if (schema !== undefined) onChange(initialValue(schema, root, required, depth + 1));
  };
  return (
    <div className="group">
      <Choice
        label={`${label}: kind`}
        value={String(chosen)}
        onChange={choose}
        options={variants.map(({ label }, index) => ({ id: String(index), text: label }))}
      />
      {variant !== undefined && (
        <Field
          key={chosen}
          name={name}
          schema={variant.schema}
          path={path}
          required={required}
          value={value}
          onChange={onChange}
          depth={depth + 1}
        />
      )}
    </div>
  );
}

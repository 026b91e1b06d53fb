import { type JsonObject, visible } from "@keyhole/kernel";
import { type ReactNode, useId } from "react";
import { Button, IconButton } from "../ui/Button.tsx";
import { type AnyFieldProps, type FieldProps, useForm } from "./context.ts";
import { GroupDescription, GroupFault, GroupLabel } from "./FieldFrame.tsx";
import { MapField } from "./MapField.tsx";
import { Members } from "./Members.tsx";
import { BooleanField, ChoiceField, FixedField, JsonField, NumericField, TextualField } from "./ScalarFields.tsx";
import { SetField } from "./SetField.tsx";
import { resolve } from "./resolve.ts";
import { descriptionOf, type ObjectShape, type Shape, shapeOf, titleOf } from "./schema.ts";
import { type Draft, initialValue, pointerTo } from "./value.ts";
import { VariantsField } from "./VariantsField.tsx";

/** The field of any schema. */
export function Field(props: AnyFieldProps): ReactNode {
  return (
    <div className="at" data-path={visible(props.path)}>
      <FieldOfShape {...props} />
    </div>
  );
}

function FieldOfShape({ schema, depth, ...rest }: AnyFieldProps): ReactNode {
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
      return <TextualField {...field} text={shape.text} />;
    case "number":
      return <NumericField {...field} integer={shape.integer} />;
    case "boolean":
      return <BooleanField {...field} />;
    case "choice":
      return isSet(shape, field) ? <FixedField {...field} /> : <ChoiceField {...field} options={shape.options} />;
    case "set":
      return <SetField {...field} options={shape.options} />;
    case "object":
      return <ObjectField {...field} shape={shape} schema={resolved} depth={depth} />;
    case "list":
      return <ListField {...field} items={shape.items} most={shape.most} depth={depth} />;
    case "variants":
      return <VariantsField {...field} variants={shape.variants} depth={depth} renderValue={Field} />;
    case "null":
      return null;
    case "json":
      return <JsonField {...field} />;
  }
}

/** Its one value stands already. */
function isSet({ options }: Extract<Shape, { kind: "choice" }>, { required, value }: FieldProps<Draft>): boolean {
  return options.length === 1 && required && JSON.stringify(value) === JSON.stringify(options[0]?.value);
}

interface ObjectFieldProps extends FieldProps<Draft> {
  readonly shape: ObjectShape;
  readonly schema: JsonObject;
  readonly depth: number;
}

function ObjectField({ shape, schema, depth, ...field }: ObjectFieldProps): ReactNode {
  const { root } = useForm();
  const id = useId();
  const { path, label, description, required, value, onChange } = field;
  const { members, extra } = shape;
  if (members.length === 0 && extra !== undefined)
    return <MapField {...field} extra={extra} depth={depth} renderValue={Field} />;
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
        <ObjectBody shape={shape} path={path} value={value} onChange={onChange} depth={depth} />
      ) : (
        <Button icon="plus" onPress={() => onChange(initialValue(schema, root, true, depth) ?? {})}>
          Add {label}
        </Button>
      )}
      <GroupFault path={path} />
    </fieldset>
  );
}

interface ObjectBodyProps extends Pick<AnyFieldProps, "path" | "value" | "onChange" | "depth"> {
  readonly shape: ObjectShape;
}

/** The members that the author names, and those that the person adds. */
export function ObjectBody({ shape, ...rest }: ObjectBodyProps): ReactNode {
  const { members, extra } = shape;
  return (
    <>
      <Members members={members} {...rest} renderValue={Field} />
      {extra !== undefined && members.length > 0 && (
        <MapField
          name="members"
          label={rest.path === "" ? "the input" : "other members"}
          description={undefined}
          required
          {...rest}
          extra={extra}
          named={members.map(({ name }) => name)}
          renderValue={Field}
        />
      )}
    </>
  );
}

interface ListFieldProps extends FieldProps<Draft> {
  readonly items: JsonObject;
  readonly most: number;
  readonly depth: number;
}

function ListField({ items, most, depth, ...field }: ListFieldProps): ReactNode {
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

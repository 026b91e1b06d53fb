import type { JsonObject } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { type ComponentType, type ReactNode, useState } from "react";
import { Choice } from "../ui/Choice.tsx";
import { type AnyFieldProps, type FieldProps, useForm } from "./context.ts";
import type { Variant } from "./schema.ts";
import { type Draft, initialValue } from "./value.ts";

interface VariantsFieldProps extends FieldProps<Draft> {
  readonly variants: readonly Variant[];
  readonly depth: number;
  /** Given, not imported: a variant is itself a field. */
  readonly renderValue: ComponentType<AnyFieldProps>;
}

export function VariantsField({ variants, depth, renderValue: Value, ...field }: VariantsFieldProps): ReactNode {
  const { root } = useForm();
  const { name, path, label, required, value, onChange } = field;
  const [chosen, setChosen] = useState(() => fitting(value, variants, root) ?? 0);
  // A value from elsewhere, such as the JSON beside the form, may be of another kind.
  const [own, setOwn] = useState(value);
  if (own !== value) {
    setOwn(value);
    setChosen(fits(value, variants[chosen]?.schema, root) ? chosen : (fitting(value, variants, root) ?? chosen));
  }
  const emit = (changed: Draft): void => {
    setOwn(changed);
    onChange(changed);
  };
  const variant = variants[chosen];
  const choose = (id: string): void => {
    const next = Number(id);
    const schema = variants[next]?.schema;
    setChosen(next);
    if (schema !== undefined) emit(initialValue(schema, root, required, depth + 1));
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
        <Value
          key={chosen}
          name={name}
          schema={variant.schema}
          path={path}
          required={required}
          value={value}
          onChange={emit}
          depth={depth + 1}
        />
      )}
    </div>
  );
}

function fitting(value: Draft, variants: readonly Variant[], root: JsonObject): number | undefined {
  const at = variants.findIndex(({ schema }) => fits(value, schema, root));
  return at < 0 ? undefined : at;
}

/** References of a variant point into the whole schema. */
function fits(value: Draft, schema: JsonObject | undefined, root: JsonObject): boolean {
  if (value === undefined || schema === undefined) return false;
  const definitions = {
    ...(root["$defs"] !== undefined && { $defs: root["$defs"] }),
    ...(root["definitions"] !== undefined && { definitions: root["definitions"] }),
  };
  const compiled = compileSchema({ ...schema, ...definitions });
  return compiled.ok && compiled.validator.check(value);
}

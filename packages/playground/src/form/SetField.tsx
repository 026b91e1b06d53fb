import type { JsonValue } from "@keyhole/kernel";
import { visible } from "@keyhole/kernel";
import { type ReactNode, useId } from "react";
import type { FieldProps } from "./context.ts";
import { GroupDescription, GroupFault, GroupLabel } from "./FieldFrame.tsx";
import type { Option } from "./schema.ts";
import type { Draft } from "./value.ts";

/** Any of a few values: a box for each. The value has them in the order of the schema. */
export function SetField({
  options,
  ...field
}: FieldProps<Draft> & { readonly options: readonly Option[] }): ReactNode {
  const id = useId();
  const { path, label, description, required, value, onChange } = field;
  const chosen = new Set(
    (Array.isArray(value) ? (value as readonly JsonValue[]) : []).map((each) => JSON.stringify(each)),
  );
  const toggle = (option: Option, isOn: boolean): void => {
    const next = options.filter((each) => (each === option ? isOn : chosen.has(JSON.stringify(each.value))));
    onChange(next.length === 0 && !required ? undefined : next.map((each) => each.value));
  };
  return (
    <fieldset className="field" aria-labelledby={id}>
      <GroupLabel id={id} label={label} required={required} />
      <GroupDescription>{description}</GroupDescription>
      <div className="ticks">
        {options.map((option) => (
          <label key={option.text} className="line checkbox">
            <input
              type="checkbox"
              checked={chosen.has(JSON.stringify(option.value))}
              onChange={({ currentTarget }) => toggle(option, currentTarget.checked)}
            />
            <span>{visible(option.text)}</span>
          </label>
        ))}
      </div>
      <GroupFault path={path} />
    </fieldset>
  );
}

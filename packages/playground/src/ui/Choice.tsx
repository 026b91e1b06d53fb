import { visible } from "@keyhole/kernel";
import { lazy, type ReactNode, Suspense, useId } from "react";
import type { ChoiceProps } from "./choice-props.ts";

/** A person searches more options than these. */
const mostInSight = 30;

const ComboChoice = lazy(async () => ({ default: (await import("./ComboChoice.tsx")).ComboChoice }));

/** One of several: the browser's own select, or for many options a field that searches them. */
export function Choice(props: ChoiceProps): ReactNode {
  if (props.options.length <= mostInSight) return <NativeChoice {...props} />;
  return (
    <Suspense fallback={<NativeChoice {...props} options={props.options.slice(0, 1)} isDisabled />}>
      <ComboChoice {...props} />
    </Suspense>
  );
}

function NativeChoice(props: ChoiceProps): ReactNode {
  const { label, optional = false, options, value, placeholder = "Choose…" } = props;
  const id = useId();
  return (
    <div className="choice">
      <label className="bar label" htmlFor={id}>
        {visible(label)}
        {optional && <span className="optional">optional</span>}
      </label>
      <select
        id={id}
        className="input select"
        value={value ?? ""}
        disabled={props.isDisabled}
        aria-invalid={props.isInvalid || undefined}
        onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
        onBlur={props.onBlur}
      >
        {value === undefined && (
          <option value="" disabled>
            {placeholder}
          </option>
        )}
        {options.map((option) => (
          <option key={option.id} value={option.id}>
            {visible(option.text)}
          </option>
        ))}
      </select>
    </div>
  );
}

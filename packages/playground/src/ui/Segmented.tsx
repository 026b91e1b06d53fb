import { type ReactNode, useId } from "react";

interface SegmentedProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly text: string; readonly content?: ReactNode }[];
  readonly onChange: (value: Value) => void;
}

/** One of a few, all in sight. Arrow keys choose. */
export function Segmented<Value extends string>({ label, value, options, onChange }: SegmentedProps<Value>): ReactNode {
  const name = useId();
  return (
    <div className="segmented" role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option.value} className="line segment">
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            aria-label={option.text}
            onChange={() => onChange(option.value)}
          />
          {option.content ?? option.text}
        </label>
      ))}
    </div>
  );
}

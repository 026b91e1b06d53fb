import type { ReactNode } from "react";
import { Button, Label, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";
import { Icon } from "./icons.tsx";
import { visible } from "@keyhole/kernel";

interface ChoiceProps {
  readonly label: string;
  readonly optional?: boolean;
  readonly options: readonly { readonly id: string; readonly text: string }[];
  readonly value: string | undefined;
  readonly onChange: (id: string) => void;
  readonly placeholder?: string;
  readonly isInvalid?: boolean;
  readonly isDisabled?: boolean;
  readonly onBlur?: () => void;
}

/** A select whose list is styled like the page. */
export function Choice(props: ChoiceProps): ReactNode {
  const { label, optional = false, options, value, placeholder = "Choose…" } = props;
  return (
    <Select
      className="choice"
      value={value ?? null}
      onChange={(key) => key !== null && props.onChange(String(key))}
      isInvalid={props.isInvalid ?? false}
      isDisabled={props.isDisabled ?? false}
      placeholder={placeholder}
      {...(props.onBlur && { onBlur: props.onBlur })}
    >
      <Label className="label">
        {visible(label)}
        {optional && <span className="optional">optional</span>}
      </Label>
      <Button className="input choice-button">
        <SelectValue className="choice-value" />
        <Icon name="chevron" />
      </Button>
      <Popover className="popover">
        <ListBox className="menu" items={options}>
          {(option) => (
            <ListBoxItem id={option.id} textValue={visible(option.text)} className="menu-item">
              {visible(option.text)}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}

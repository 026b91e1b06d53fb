import { visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import {
  Button,
  ComboBox,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  ListLayout,
  Popover,
  Virtualizer,
} from "react-aria-components";
import type { ChoiceProps } from "./choice-props.ts";
import { Icon } from "./icons.tsx";

/** One of many: the typed text narrows the list, which draws only options in sight. */
export function ComboChoice(props: ChoiceProps): ReactNode {
  const { label, optional = false, options, value } = props;
  return (
    <ComboBox
      className="choice"
      defaultItems={options}
      value={value ?? null}
      onChange={(key) => key !== null && props.onChange(String(key))}
      isInvalid={props.isInvalid ?? false}
      isDisabled={props.isDisabled ?? false}
      menuTrigger="focus"
      {...(props.onBlur && { onBlur: props.onBlur })}
    >
      <Label className="bar label">
        {visible(label)}
        {optional && <span className="optional">optional</span>}
        <span className="optional">{options.length.toLocaleString("en")} options</span>
      </Label>
      <div className="combo">
        <Input className="input" placeholder={props.placeholder ?? "Type to search…"} />
        <Button className="combo-open" aria-label={`Show the options of ${visible(label)}`}>
          <Icon name="chevron" />
        </Button>
      </div>
      <Popover className="box popover">
        <Virtualizer layout={ListLayout} layoutOptions={{ rowSize: 28 }}>
          <ListBox className="menu">
            {(option: ChoiceProps["options"][number]) => (
              <ListBoxItem id={option.id} textValue={visible(option.text)} className="menu-item">
                {visible(option.text)}
              </ListBoxItem>
            )}
          </ListBox>
        </Virtualizer>
      </Popover>
    </ComboBox>
  );
}

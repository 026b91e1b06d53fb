import type { ReactNode, Ref } from "react";
import { Button as AriaButton, type ButtonProps as AriaButtonProps, type PressEvent } from "react-aria-components";
import { Icon, type IconName } from "./icons.tsx";
import { visible } from "@keyhole/kernel";

interface ButtonProps extends Omit<AriaButtonProps, "className" | "children" | "style" | "onPress" | "isDisabled"> {
  readonly look?: "plain" | "primary" | "danger" | "quiet";
  readonly icon?: IconName;
  readonly ref?: Ref<HTMLButtonElement>;
  readonly onPress?: (event: PressEvent) => void;
  /** Cannot be pressed for now, and keeps the focus: a disabled button would drop it, and the keyboard with it. */
  readonly isUnavailable?: boolean;
  readonly children: ReactNode;
}

export function Button({
  look = "plain",
  icon,
  isUnavailable = false,
  onPress,
  children,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <AriaButton
      {...rest}
      className="button"
      data-look={look}
      data-unavailable={isUnavailable || undefined}
      aria-disabled={isUnavailable}
      onPress={(event) => isUnavailable || onPress?.(event)}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </AriaButton>
  );
}

interface IconButtonProps extends Omit<AriaButtonProps, "className" | "children" | "style" | "aria-label"> {
  readonly icon: IconName;
  /** What a screen reader says. */
  readonly label: string;
}

export function IconButton({ icon, label, ...rest }: IconButtonProps): ReactNode {
  return (
    <AriaButton {...rest} className="button" data-look="quiet" data-square aria-label={visible(label)}>
      <Icon name={icon} />
    </AriaButton>
  );
}

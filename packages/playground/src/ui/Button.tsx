import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components";
import { Icon, type IconName } from "./icons.tsx";

interface ButtonProps extends Omit<AriaButtonProps, "className" | "children" | "style"> {
  readonly look?: "plain" | "primary" | "danger" | "quiet";
  readonly icon?: IconName;
  /** Looks as if it could not be pressed, and keeps the focus. */
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

export function Button({ look = "plain", icon, isBusy = false, children, ...rest }: ButtonProps): ReactNode {
  return (
    <AriaButton {...rest} className="button" data-look={look} data-busy={isBusy || undefined} aria-disabled={isBusy}>
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
    <AriaButton {...rest} className="button" data-look="quiet" data-square aria-label={label}>
      <Icon name={icon} />
    </AriaButton>
  );
}

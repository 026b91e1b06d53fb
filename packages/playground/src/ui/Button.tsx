import { visible } from "@keyhole/kernel";
import type { ComponentProps, ReactNode, Ref } from "react";
import { Icon, type IconName } from "./icons.tsx";
import { type Press, pressOf } from "./press.ts";

type NativeProps = Omit<ComponentProps<"button">, "className" | "children" | "style" | "onClick" | "disabled">;

interface ButtonProps extends NativeProps {
  readonly look?: "plain" | "primary" | "danger" | "quiet";
  readonly icon?: IconName;
  readonly ref?: Ref<HTMLButtonElement>;
  readonly onPress?: (press: Press) => void;
  /** Ignores presses for now, and keeps the focus: a disabled button would drop it, and the keyboard with it. */
  readonly isUnavailable?: boolean;
  readonly children: ReactNode;
}

export function Button(props: ButtonProps): ReactNode {
  const { look = "plain", icon, isUnavailable = false, onPress, type = "button", children, ...rest } = props;
  return (
    <button
      {...rest}
      type={type}
      className="button"
      data-look={look}
      data-unavailable={isUnavailable || undefined}
      aria-disabled={isUnavailable || undefined}
      onClick={(event) => {
        if (!isUnavailable) return onPress?.(pressOf(event.nativeEvent));
        // Nor does it send its form.
        event.preventDefault();
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<NativeProps, "aria-label"> {
  readonly icon: IconName;
  /** The text for a screen reader. */
  readonly label: string;
  readonly onPress?: (press: Press) => void;
}

export function IconButton({ icon, label, onPress, type = "button", ...rest }: IconButtonProps): ReactNode {
  return (
    <button
      {...rest}
      type={type}
      className="button"
      data-look="quiet"
      data-square
      aria-label={visible(label)}
      onClick={(event) => onPress?.(pressOf(event.nativeEvent))}
    >
      <Icon name={icon} />
    </button>
  );
}

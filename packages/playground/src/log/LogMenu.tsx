import type { ReactNode, RefObject } from "react";
import { Menu, MenuItem, Popover } from "react-aria-components";

export interface LogAction {
  readonly text: string;
  readonly act: () => void;
}

interface LogMenuProps {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly actions: readonly LogAction[];
  readonly onClose: () => void;
}

/** The actions on the calls of the log. */
export function LogMenu({ button, actions, onClose }: LogMenuProps): ReactNode {
  return (
    <Popover className="box popover" triggerRef={button} isOpen onOpenChange={(open) => open || onClose()}>
      {/* The menu opened by a press: the focus goes to it, as in every menu. */}
      {/* oxlint-disable-next-line jsx-a11y/no-autofocus */}
      <Menu className="menu" aria-label="Save or delete calls" autoFocus="first" onClose={onClose}>
        {actions.map(({ text, act }) => (
          <MenuItem key={text} id={text} className="menu-item" onAction={act}>
            {text}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  );
}

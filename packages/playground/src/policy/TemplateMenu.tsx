import type { PolicyDocument } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover, Text } from "react-aria-components";
import { Icon } from "../ui/icons.tsx";
import { formatDocument } from "./format.ts";
import { templates } from "./templates.ts";

interface TemplateMenuProps {
  /** Absent where the draft is no policy: no template fits into it. */
  readonly document: PolicyDocument | undefined;
  readonly onAdd: (text: string) => void;
}

/** Changes that people make often, put into the draft. */
export function TemplateMenu({ document, onAdd }: TemplateMenuProps): ReactNode {
  return (
    <MenuTrigger>
      {/* The trigger reaches its button by the library's context, which the page's own button does not read. */}
      <Button className="button" data-look="plain" isDisabled={document === undefined}>
        <Icon name="plus" />
        Templates
      </Button>
      <Popover className="box popover" placement="bottom end">
        <Menu
          className="menu"
          aria-label="Templates"
          onAction={(key) => {
            const chosen = templates.find(({ name }) => name === key);
            if (chosen !== undefined && document !== undefined) onAdd(formatDocument(chosen.add(document)));
          }}
        >
          {templates.map(({ name, hint }) => (
            <MenuItem key={name} id={name} className="menu-item" textValue={name}>
              <Text slot="label">{name}</Text>
              <Text slot="description">{hint}</Text>
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

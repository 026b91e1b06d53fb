import type { ToolSummary } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import {
  Autocomplete,
  Collection,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  TextField,
} from "react-aria-components";
import { findTitle as title } from "../app/words.ts";
import { useSession, useSessionState } from "../session/useSession.ts";
import { useAnnounce } from "../ui/announce.tsx";
import { type ActionProps, actionsOf, screenFinds } from "./actions.ts";
import { callsOf, type Found, groupOf, toolsOf } from "./find.ts";
import "./actions.css";

interface FindProps extends ActionProps {
  readonly onClose: () => void;
}

/** A search over tools, screens, actions and calls. Enter does the marked one. */
export function FindDialog(props: FindProps): ReactNode {
  const { onClose } = props;
  const [text, setText] = useState("");
  const groups = useGroups(props, text);
  const acts = new Map(groups.flatMap(({ finds }) => finds.map(({ id, act }) => [id, act] as const)));
  return (
    <ModalOverlay className="overlay find-overlay" isOpen onOpenChange={(open) => open || onClose()} isDismissable>
      <Modal className="dialog">
        <Dialog className="dialog-body" aria-label={title}>
          <Autocomplete inputValue={text} onInputChange={setText}>
            {/* The person asked for the search: it takes the focus, as each dialog does. */}
            {/* oxlint-disable-next-line jsx-a11y/no-autofocus */}
            <TextField aria-label={title} className="under find-field" autoFocus>
              <Input className="input" placeholder={title} />
            </TextField>
            {/* It scrolls, and the keyboard has to reach it: the focus of the menu stays in the field. */}
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
            <section className="find-found" aria-label="Found" tabIndex={0}>
              <Menu
                className="menu"
                aria-label="Found"
                items={groups}
                onAction={(key) => {
                  onClose();
                  acts.get(String(key))?.();
                }}
                renderEmptyState={() => <p className="hint">Nothing has this text.</p>}
              >
                {(group) => <Group group={group} />}
              </Menu>
            </section>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Group({ group: { name, finds, count } }: { readonly group: Found }): ReactNode {
  return (
    <MenuSection id={name}>
      <Header className="find-group">
        {name}
        {count > finds.length && ` (${finds.length} of ${count.toLocaleString("en")})`}
      </Header>
      <Collection items={finds}>
        {({ id, text, hint }) => (
          <MenuItem id={id} textValue={text} className="menu-item find-item">
            <span>{text}</span> {hint !== "" && <span className="find-hint">{hint}</span>}
          </MenuItem>
        )}
      </Collection>
    </MenuSection>
  );
}

function useGroups(props: FindProps, text: string): readonly (Found & { readonly id: string })[] {
  const { connection, onGo } = props;
  const { calls } = useSession();
  const { heads } = useSessionState();
  const announce = useAnnounce();
  const tools: readonly ToolSummary[] = connection.state === "ready" ? connection.tools : [];
  const groups = [
    groupOf(
      "Tools",
      toolsOf(tools, (id) => onGo({ kind: "tool", id })),
      text,
    ),
    groupOf("Screens", screenFinds(props), text),
    groupOf("Actions", actionsOf(props, { calls, heads, announce }), text),
    callsOf(heads, text, (id) => onGo({ kind: "call", id })),
  ];
  return groups.filter(({ count }) => count > 0).map((group) => ({ ...group, id: group.name }));
}

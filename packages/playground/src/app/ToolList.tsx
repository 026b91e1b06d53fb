import type { ToolSummary } from "@keyhole/kernel";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { Button, Input, ListBox, ListBoxItem, SearchField } from "react-aria-components";
import { Glyph, TierBars } from "../ui/Glyph.tsx";
import { Icon } from "../ui/icons.tsx";
import { Empty } from "../ui/Notice.tsx";
import { tierText } from "./words.ts";

interface ToolListProps {
  readonly tools: readonly ToolSummary[];
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
  /** A press or Enter: go on to the tool's form. Arrow keys only select. */
  readonly onOpen: (id: string) => void;
  readonly searchRef: RefObject<HTMLInputElement | null>;
  /** Below the tools. */
  readonly footer?: ReactNode;
}

function matches({ manifest }: ToolSummary, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [manifest.name, manifest.title ?? "", manifest.description, ...manifest.effects].some((each) =>
    each.toLowerCase().includes(wanted),
  );
}

export function ToolList({ tools, selected, onSelect, onOpen, searchRef, footer }: ToolListProps): ReactNode {
  const [text, setText] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => tools.filter((tool) => matches(tool, text)), [tools, text]);

  useEffect(() => tellWhereItIs(list.current), []);

  const onSearchKey = (event: KeyboardEvent): void => {
    const first = shown[0];
    if (event.key === "ArrowDown" && first !== undefined) {
      event.preventDefault();
      list.current?.querySelector<HTMLElement>("[role=option]")?.focus();
    }
    if (event.key === "Enter" && first !== undefined) {
      event.preventDefault();
      onOpen(first.id);
    }
  };

  return (
    <nav className="tools" aria-label="Tools">
      <SearchField className="search" aria-label="Search tools" value={text} onChange={setText}>
        <Icon name="search" />
        <Input ref={searchRef} className="search-input" placeholder="Search tools" onKeyDown={onSearchKey} />
        <kbd aria-hidden="true">/</kbd>
        <Button className="button search-clear" data-look="quiet" data-square aria-label="Clear search">
          <Icon name="close" />
        </Button>
      </SearchField>
      <ListBox
        ref={list}
        className="tool-list"
        aria-label="Tools"
        items={shown}
        selectionMode="single"
        selectionBehavior="replace"
        shouldFocusWrap
        disallowEmptySelection
        selectedKeys={selected === undefined ? [] : [selected]}
        onSelectionChange={(keys) => {
          const [key] = keys === "all" ? [] : [...keys];
          if (key !== undefined) onSelect(String(key));
        }}
        renderEmptyState={() => (
          <Empty title={tools.length === 0 ? "This kernel has no tools" : `No tool matches “${text}”`} />
        )}
      >
        {(tool) => <ToolItem tool={tool} onOpen={() => onOpen(tool.id)} />}
      </ListBox>
      {footer}
    </nav>
  );
}

/**
 * A list that gets the focus goes back to where it last heard that it was scrolled to. A browser says so a frame later, which may be after the press.
 *
 * @returns what ends it
 */
function tellWhereItIs(list: HTMLElement | null): () => void {
  const tell = (): void => void list?.dispatchEvent(new Event("scroll"));
  list?.addEventListener("pointerdown", tell, { capture: true });
  return () => list?.removeEventListener("pointerdown", tell, { capture: true });
}

function ToolItem({ tool, onOpen }: { readonly tool: ToolSummary; readonly onOpen: () => void }): ReactNode {
  const { name, tier, effects, capabilities } = tool.manifest;
  return (
    <ListBoxItem id={tool.id} textValue={name} className="tool-item" onPress={onOpen}>
      <span className="tool-name">{name}</span>
      <Glyph
        isPure={capabilities.length === 0}
        openings={new Set(capabilities.map(({ kind }) => kind)).size}
        crossings={0}
        stopped={0}
      />
      <TierBars tier={tier} />
      <span className="visually-hidden">
        {tierText(tier)}, {effects.length === 0 ? "no effect" : effects.join(", ")}
      </span>
    </ListBoxItem>
  );
}

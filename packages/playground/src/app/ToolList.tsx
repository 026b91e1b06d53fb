import { type ToolSummary, visible } from "@keyhole/kernel";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useId, useMemo, useRef, useState } from "react";
import { arrowTo } from "../ui/arrows.ts";
import { Glyph, TierBars } from "../ui/Glyph.tsx";
import { Empty } from "../ui/Notice.tsx";
import { SearchField } from "../ui/TextField.tsx";
import { groupsOf } from "./tool-groups.ts";
import { tierText } from "./words.ts";

interface ToolListProps {
  readonly tools: readonly ToolSummary[];
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
  /** A press or Enter: continue at the tool's form. Arrow keys only select. */
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
  const groups = useMemo(() => groupsOf(tools.filter((tool) => matches(tool, text))), [tools, text]);
  const shown = groups.flatMap((group) => group.tools);
  /** One tool is the stop of the Tab key. */
  const stop = shown.find(({ id }) => id === selected)?.id ?? shown[0]?.id;

  const { list, onSearchKey, onToolKey } = useListKeys(shown, onSelect, onOpen);
  return (
    <nav className="sunken tools" aria-label="Tools">
      <SearchField
        label="Search tools"
        shortcut="/"
        placeholder={`Search ${tools.length} tools`}
        ref={searchRef}
        value={text}
        onChange={setText}
        onKeyDown={onSearchKey}
      />
      <div className="tool-scroll">
        {/* The elements of HTML for these roles hold text alone. */}
        {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
        <div ref={list} className="tool-list" role="listbox" aria-label="Tools">
          {groups.map((group) => (
            <Group key={group.name} name={group.name}>
              {group.tools.map((tool) => (
                <ToolItem
                  key={tool.id}
                  tool={tool}
                  isSelected={tool.id === selected}
                  isStop={tool.id === stop}
                  onOpen={() => onOpen(tool.id)}
                  onKeyDown={(event) => onToolKey(event, tool.id)}
                />
              ))}
            </Group>
          ))}
        </div>
        {shown.length === 0 && (
          <Empty title={tools.length === 0 ? "This kernel has no tools" : `No tool matches “${text}”`} />
        )}
        {footer}
      </div>
    </nav>
  );
}

interface ListKeys {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly onSearchKey: (event: KeyboardEvent) => void;
  readonly onToolKey: (event: KeyboardEvent, id: string) => void;
}

/** Arrows choose, Enter opens; from the search, down leads into the list. */
function useListKeys(
  shown: readonly ToolSummary[],
  onSelect: (id: string) => void,
  onOpen: (id: string) => void,
): ListKeys {
  const list = useRef<HTMLDivElement>(null);
  const onSearchKey = (event: KeyboardEvent): void => {
    const first = shown[0];
    if (first === undefined) return;
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    event.preventDefault();
    if (event.key === "Enter") onOpen(first.id);
    else list.current?.querySelector<HTMLElement>("[role=option][tabindex='0']")?.focus();
  };
  const onToolKey = (event: KeyboardEvent, id: string): void => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return onOpen(id);
    }
    const to = arrowTo(
      event,
      shown.findIndex((tool) => tool.id === id),
      shown.length,
    );
    const next = to === undefined ? undefined : shown[to];
    if (to === undefined || next === undefined) return;
    onSelect(next.id);
    list.current?.querySelectorAll<HTMLElement>("[role=option]")[to]?.focus();
  };
  return { list, onSearchKey, onToolKey };
}

function Group({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  const id = useId();
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <div className="tool-group" role="group" aria-labelledby={id}>
      <div id={id} role="presentation" className="note tool-group-name">
        {name}
      </div>
      {children}
    </div>
  );
}

interface ToolItemProps {
  readonly tool: ToolSummary;
  readonly isSelected: boolean;
  readonly isStop: boolean;
  readonly onOpen: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function ToolItem({ tool, isSelected, isStop, onOpen, onKeyDown }: ToolItemProps): ReactNode {
  const { name, tier, effects, capabilities } = tool.manifest;
  const item = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isSelected) item.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <div
      ref={item}
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
      role="option"
      className="line hovers tool-item"
      aria-selected={isSelected}
      tabIndex={isStop ? 0 : -1}
      onClick={onOpen}
      onKeyDown={onKeyDown}
    >
      <span className="tool-name">{visible(name)}</span>
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
    </div>
  );
}

import { type ReactNode, useId, useRef } from "react";
import { arrowTo, focusChild } from "./arrows.ts";

export interface TabItem {
  readonly id: string;
  readonly name: ReactNode;
  /** Only the chosen tab draws it. */
  readonly panel: () => ReactNode;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly TabItem[];
  /** Id of the chosen tab; the first where there is none. */
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
}

/** Views of one thing. Arrow keys choose; the panel is the next stop of the Tab key. */
export function Tabs({ label, tabs, chosen: wanted, onChoose }: TabsProps): ReactNode {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const chosen = tabs.find((tab) => tab.id === wanted) ?? tabs[0];
  return (
    <div className="shrinks tabs">
      <div className="line under shrinks tab-bar">
        <div ref={list} className="shrinks tab-list" role="tablist" aria-label={label}>
          {tabs.map((tab, index) => (
            <button
              key={tab.id}
              type="button"
              role="tab"
              id={`${id}-${tab.id}`}
              className="tab"
              aria-selected={tab === chosen}
              aria-controls={`${id}-panel`}
              tabIndex={tab === chosen ? 0 : -1}
              onClick={() => onChoose(tab.id)}
              onKeyDown={(event) => {
                const to = arrowTo(event, index, tabs.length);
                const next = to === undefined ? undefined : tabs[to];
                if (to === undefined || next === undefined) return;
                onChoose(next.id);
                focusChild(list.current, to);
              }}
            >
              {tab.name}
            </button>
          ))}
        </div>
      </div>
      <div
        key={chosen?.id}
        id={`${id}-panel`}
        className="stack tab-panel"
        role="tabpanel"
        aria-labelledby={`${id}-${chosen?.id}`}
        tabIndex={0}
      >
        {chosen?.panel()}
      </div>
    </div>
  );
}

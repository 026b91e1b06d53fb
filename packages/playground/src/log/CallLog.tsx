import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import type { Governance } from "../client/kernel-client.ts";
import { usePlainKey } from "../app/keys.ts";
import { bytesText, durationText } from "../app/words.ts";
import type { CallHead } from "../session/call-head.ts";
import { useSessionState } from "../session/useSession.ts";
import { IconButton } from "../ui/Button.tsx";
import { SearchField } from "../ui/TextField.tsx";
import { LogActions } from "./LogActions.tsx";
import { type Filter, filtered, filters, sumsOf } from "./filters.ts";

/** Loaded with the first call. */
const CallRows = lazy(async () => ({ default: (await import("./CallRows.tsx")).CallRows }));

interface CallLogProps {
  /** The call that the page shows. */
  readonly current: string | undefined;
  readonly governance: Governance | undefined;
  readonly onOpen: (id: string) => void;
}

const shownFilters: readonly Filter[] = ["all", "asks", "refused", "failed", "completed", "crossed"];

/** Every call of the session, on every screen. */
export function CallLog({ current, governance, onOpen }: CallLogProps): ReactNode {
  const { heads } = useSessionState();
  const [isFolded, setFolded] = useState(() => matchMedia("(width < 720px)").matches);
  const [filter, setFilter] = useState<Filter>("all");
  const [text, setText] = useState("");
  const rows = useMemo(() => filtered(heads, filter, text), [heads, filter, text]);
  const toggle = (): void => setFolded((folded) => !folded);
  // The key left of 1.
  usePlainKey("`", toggle);
  return (
    <section className="surface shrinks drawer" aria-label="Log of calls" data-folded={isFolded || undefined}>
      <div className="line sunken under drawer-bar">
        <IconButton
          icon="drawer"
          label={isFolded ? "Show the log of calls" : "Fold the log of calls"}
          aria-expanded={!isFolded}
          onPress={toggle}
        />
        <h2>
          Calls <span className="muted count">{heads.length}</span>
        </h2>
        <Chips heads={heads} filter={filter} onChange={setFilter} />
        <SearchField
          className="line search drawer-find"
          label="Search calls"
          placeholder="Tool, input, code, hash"
          value={text}
          onChange={setText}
        />
        <SumsText rows={rows} />
        <LogActions rows={rows} current={current} governance={governance} />
      </div>
      {!isFolded && (
        <Suspense fallback={<div className="log" />}>
          {heads.length === 0 ? (
            <div className="log">
              <p className="hint rows-empty">No call yet. Every call of this browser is listed here.</p>
            </div>
          ) : (
            <CallRows rows={rows} current={current} onOpen={onOpen} />
          )}
        </Suspense>
      )}
    </section>
  );
}

interface ChipsProps {
  readonly heads: readonly CallHead[];
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
}

function Chips({ heads, filter, onChange }: ChipsProps): ReactNode {
  return (
    <fieldset className="filter-chips" aria-label="Which calls">
      {shownFilters.map((each) => {
        const count = each === "all" ? 0 : heads.filter(filters[each].has).length;
        if (each !== "all" && each !== filter && count === 0) return null;
        return (
          <button
            key={each}
            type="button"
            className="hovers filter-chip"
            data-filter={each}
            aria-pressed={each === filter}
            onClick={() => onChange(each)}
          >
            {filters[each].text}
            {each !== "all" && <span className="muted count">{count}</span>}
          </button>
        );
      })}
    </fieldset>
  );
}

function SumsText({ rows }: { readonly rows: readonly CallHead[] }): ReactNode {
  const { ownMs, waitedMs, bytes, events } = useMemo(() => sumsOf(rows), [rows]);
  if (rows.length === 0) return <span className="clip num muted drawer-sum" />;
  return (
    <span className="clip num muted drawer-sum">
      own {durationText(ownMs)} · waited {durationText(waitedMs)} · {bytesText(bytes)} · {events.toLocaleString("en")}{" "}
      {events === 1 ? "event" : "events"}
    </span>
  );
}

import type { ReactNode } from "react";
import { isOpen } from "../session/call-head.ts";
import { useSession, useSessionState } from "../session/useSession.ts";
import { Icon } from "../ui/icons.tsx";
import { useNow } from "../ui/time.ts";
import { readVersionedId, visible } from "@keyhole/kernel";

/** Calls in sight at once; the log has all of them. */
const shownCount = 2;

/** The calls of this tab that run, each with a way to end it, on every screen. */
export function RunningCalls({ onOpen }: { readonly onOpen?: (id: string) => void }): ReactNode {
  const { calls } = useSession();
  const { heads } = useSessionState();
  const running = heads.filter(({ id, state }) => isOpen(state) && calls.isOwn(id));
  if (running.length === 0) return null;
  return (
    <ul className="line num running" aria-label="Running calls">
      {running.slice(0, shownCount).map(({ id, tool, state, startedAt }) => (
        <li key={id}>
          <button
            type="button"
            className="hovers mono-s toned running-name"
            data-state={state}
            disabled={!onOpen}
            onClick={() => onOpen?.(id)}
          >
            {visible(readVersionedId(tool).name)} <Elapsed since={startedAt} />
          </button>
          <button type="button" className="small kill" onClick={() => calls.cancel(id)}>
            <Icon name="stop" />
            Kill<span className="visually-hidden"> {visible(readVersionedId(tool).name)}</span>
          </button>
        </li>
      ))}
      {running.length > shownCount && <li className="muted">and {running.length - shownCount} more</li>}
    </ul>
  );
}

function Elapsed({ since }: { readonly since: number }): ReactNode {
  const seconds = Math.max(0, Math.floor((useNow(since, 1_000) - since) / 1_000));
  return (
    <span className="muted" aria-hidden="true">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, "0")}
    </span>
  );
}

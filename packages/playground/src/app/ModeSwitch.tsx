import type { Mode } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import type { Governance } from "../client/kernel-client.ts";
import { useAnnounce } from "../ui/announce.tsx";
import { Icon } from "../ui/icons.tsx";
import { visible } from "@keyhole/kernel";
import { useKey } from "./keys.ts";

interface ModeSwitchProps {
  readonly mode: Mode;
  readonly setMode: Governance["setMode"];
}

/** The mode, and LOCKDOWN with one press from everywhere. */
export function ModeSwitch({ mode, setMode }: ModeSwitchProps): ReactNode {
  const announce = useAnnounce();
  const [fault, setFault] = useState("");
  const isLocked = mode === "LOCKDOWN";
  const toggle = (): void => {
    const next = isLocked ? "NORMAL" : "LOCKDOWN";
    setFault("");
    setMode?.(next, "Set by a person in the playground").then(
      () => announce(`The mode is now ${next}`),
      (error: unknown) => setFault(error instanceof Error ? error.message : String(error)),
    );
  };
  useLockdownKey(setMode === undefined || isLocked ? undefined : toggle);
  return (
    <>
      <fieldset className="mode" data-mode={mode} aria-label="Mode of the kernel">
        <span className="line mode-now">{mode}</span>
        {setMode !== undefined && (
          <button type="button" className="line lockdown" onClick={toggle} aria-keyshortcuts="Shift+Escape">
            <Icon name={isLocked ? "back" : "lock"} />
            {isLocked ? "Back to NORMAL" : "LOCKDOWN"}
            {!isLocked && <kbd aria-hidden="true">⇧ Esc</kbd>}
          </button>
        )}
      </fieldset>
      {fault !== "" && (
        <span className="fault" role="alert">
          The mode was not changed: {visible(fault)}
        </span>
      )}
    </>
  );
}

/** It works from any field, and while a question is open: it only closes. */
function useLockdownKey(lock: (() => void) | undefined): void {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !event.shiftKey) return;
    event.preventDefault();
    // The dialog of a question has a switch of its own.
    event.stopImmediatePropagation();
    lock?.();
  };
  useKey(lock && onKeyDown, true);
}

/** The notice that stays for as long as the mode holds. */
export function LockdownBar(): ReactNode {
  return (
    <output className="bar shut">
      <b>
        <Icon name="lock" /> LOCKDOWN
      </b>
      <span>Every opening is closed. Only tools of tier 0 without effects run, and no policy lifts this.</span>
    </output>
  );
}

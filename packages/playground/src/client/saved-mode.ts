import { type Mode, modes } from "@keyhole/kernel";
import { saved as pageValues, type SavedKey, type SavedValues } from "./saved.ts";

const key: SavedKey = { area: "local", key: "keyhole.mode", what: "the mode" };

/** Saves what a person set, so that no reload lifts LOCKDOWN. */
export function saveMode(mode: Mode, saved: SavedValues = pageValues): void {
  saved.write(key, mode === "NORMAL" ? undefined : mode);
}

/**
 * The mode that a person set last, default NORMAL. Another version of the page may have written the value: what is no mode is
 * LOCKDOWN.
 */
export function savedMode(saved: SavedValues = pageValues): Mode {
  const text = saved.read(key);
  if (text === undefined) return "NORMAL";
  return modes.find((mode) => mode === text) ?? "LOCKDOWN";
}

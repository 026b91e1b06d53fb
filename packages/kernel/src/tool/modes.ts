import { type Mode, modes } from "./manifest.ts";

/**
 * A mode and all milder modes. A restriction of one of them holds in this mode too, so a stricter
 * mode never allows more.
 */
export function upTo(mode: Mode): readonly Mode[] {
  return modes.slice(0, modes.indexOf(mode) + 1);
}

export function isStricter(to: Mode, from: Mode): boolean {
  return modes.indexOf(to) > modes.indexOf(from);
}

/** Whether a list of what may not be, or only with a question, concerns a mode: it names it or a milder one. */
export function holdsBack(listed: readonly Mode[] | undefined, mode: Mode): boolean {
  return listed !== undefined && upTo(mode).some((each) => listed.includes(each));
}

/** Whether a list of what may be lets a mode through: it names it and every milder one. */
export function letsThrough(listed: readonly Mode[] | undefined, mode: Mode): boolean {
  return listed === undefined || upTo(mode).every((each) => listed.includes(each));
}

/** @throws TypeError for a mode that there is none of: a bug of the embedding program. */
export function knownMode(mode: Mode): Mode {
  if (modes.includes(mode)) return mode;
  throw new TypeError(`There is no mode ${JSON.stringify(mode)}: ${modes.join(", ")}.`);
}

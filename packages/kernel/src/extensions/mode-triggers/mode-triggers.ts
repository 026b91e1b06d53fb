import type { Foreign } from "../../support/foreign.ts";
import { snapshot } from "../../json/snapshot.ts";
import { type ModeTrigger, ModeTriggers } from "../../policy/modes/triggers.ts";
import { knownMode } from "../../tool/modes.ts";
import type { Extension, ExtensionContext } from "../extension.ts";

/**
 * Makes the mode stricter by itself, by how calls end.
 *
 * @throws TypeError for triggers that are no data, or that go to an unknown mode: a bug of the embedding program
 */
export function modeTriggers(foreign: Foreign<readonly ModeTrigger[]>): Extension {
  const plain = snapshot(foreign);
  if (!plain.ok || !Array.isArray(plain.value)) throw new TypeError("`modeTriggers` is not a list of triggers.");
  const triggers = plain.value as unknown as readonly ModeTrigger[];
  for (const { to } of triggers) knownMode(to);
  let context: ExtensionContext;
  let watched: ModeTriggers;
  return {
    name: "mode-triggers",
    open(given) {
      context = given;
      watched = new ModeTriggers(triggers, given.clock);
    },
    onEnd({ result, hasStarted }) {
      const code = result.ok ? undefined : result.error.code;
      const fired = watched.ended(context.authority().mode, code, hasStarted);
      // A stricter mode holds at once; the record follows with the next flush at the latest. When the
      // log cannot be written, nothing runs any more: stricter than any mode.
      return fired && context.setMode(fired.to, fired.reason).catch(() => {});
    },
  };
}

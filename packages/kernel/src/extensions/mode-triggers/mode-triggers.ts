import { type ModeTrigger, ModeTriggers } from "../../policy/mode-manager.ts";
import type { Extension, ExtensionContext } from "../extension.ts";

/** Makes the mode stricter by itself, by how calls end. */
export function modeTriggers(triggers: readonly ModeTrigger[]): Extension {
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

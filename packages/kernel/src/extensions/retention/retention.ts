import { keptOutput } from "../../call/ending/ending.ts";
import type { Decided } from "../../call/steps/decide.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import type { Normalized } from "../../call/steps/normalize.ts";
import type { ContentStore } from "../../bytes/content-store.ts";
import type { ContentReference } from "../../bytes/content-reference.ts";
import type { Extension, ExtensionContext } from "../../call/extension.ts";
import { referTo } from "./content-reference.ts";
import { retainValues } from "./retain-values.ts";

/** Puts values that the policy keeps, and large outputs, into a content store. */
export function retention(content: ContentStore): Extension {
  let context: ExtensionContext;
  const reference = (state: Normalized): MaybePromise<ContentReference | undefined> => {
    const { started, output, outputHash, outputBytes } = state;
    const { tool } = started;
    return referTo(started, outputBytes, () => keptOutput(tool, output, outputHash, outputBytes), content);
  };
  return {
    name: "retention",
    keepsValues: true,
    open: (given) => void (context = given),
    afterDecision(decided: Decided) {
      // The snapshot keeps an answer once, also for a resume elsewhere.
      if (decided.call.hasStarted) return undefined;
      const keeping = retainValues(decided, "input", decided.input, { content, log: context.log });
      return keeping?.then(() => undefined);
    },
    beforeConclude(state) {
      const keeping = retainValues(state.started, "output", state.output, { content, log: context.log });
      return keeping ? keeping.then(() => reference(state)) : reference(state);
    },
    beforeReuse: (state, output) => referTo(state, output.outputBytes, () => output, content),
  };
}

import { awaitEnding } from "../../call/ending/await-ending.ts";
import type { Reused } from "../../call/steps/answer.ts";
import type { Allowed } from "../../call/steps/authorize.ts";
import type { Extension, ExtensionContext } from "../../call/extension.ts";
import { Results } from "./results.ts";

/**
 * Results of pure tools answer equal calls. Between steps 5 and 6: a call that is not allowed gets
 * nothing, and one that is needs no slot for what is there already.
 */
export function pureCache(): Extension {
  const results = new Results();
  let context: ExtensionContext;

  async function share({ call }: Allowed, keys: readonly [string, ...string[]]): Promise<Reused | undefined> {
    // Bounds of its own could end the one run that others wait for, or the other run be too slow for them.
    const isShared = call.options.bounds === undefined;
    for (;;) {
      const found = results.find(keys);
      if (found && !("then" in found)) return { ending: found, by: "cache" };
      if (!found || !isShared) {
        const tell = results.begin(keys[0], call.caller, isShared);
        call.defer(({ ending }) => {
          const ended = ending();
          if (ended) tell(ended);
        });
        return undefined;
      }
      const ending = await awaitEnding(found, call, context.clock);
      if (ending.wasCancelled) continue;
      // Without a start the refusal was that caller's; the kernel decides about this call separately.
      return ending.hasStarted ? { ending, by: "cache" } : undefined;
    }
  }

  return {
    name: "pure-cache",
    open: (given) => void (context = given),
    afterAllow(allowed) {
      const keys = allowed.call.hasStarted ? undefined : results.keysOf(allowed);
      return keys && share(allowed, keys);
    },
    distrust: (toolHash) => results.distrust(toolHash),
  };
}

import { checkedTriggers } from "../../policy/modes/read-triggers.ts";
import { type Resources, ResourceWatch } from "../../policy/modes/resources.ts";
import { type ModeTrigger, ModeTriggers, type ResourceTrigger, type Transition } from "../../policy/modes/triggers.ts";
import type { Extension, ExtensionContext } from "../../call/extension.ts";

/**
 * Makes the mode stricter by itself: by how calls end, and by what is left of the resources.
 *
 * @throws TypeError for triggers that are no data, that go to an unknown mode, or that lack their gauge: a bug of the embedding program
 */
export function modeTriggers(given: readonly ModeTrigger[], resources: Resources = {}): Extension {
  const triggers = checkedTriggers(given);
  const ofResources = triggers.filter(isOfResource);
  const ofEnds = triggers.filter((each) => !isOfResource(each));
  let context: ExtensionContext;
  let watched: ModeTriggers;
  let watch: ResourceWatch;
  // A stricter mode holds at once; the record follows with the next flush at the latest. When the sink fails, no tool runs: stricter than any mode.
  const go = ({ to, reason }: Transition): Promise<void> => context.setMode(to, reason).catch(() => {});
  const look = (): void => {
    const fired = watch.fired(context.authority().mode, context.log);
    if (fired) void go(fired);
  };
  return {
    name: "mode-triggers",
    open(given) {
      context = given;
      watched = new ModeTriggers(ofEnds, given.clock);
      watch = new ResourceWatch(ofResources, resources, given.clock);
    },
    ...(ofResources.length > 0 && {
      onArrival() {
        look();
        void watch.measure().then(look);
      },
    }),
    onEnd({ result, hasStarted }) {
      const code = result.ok ? undefined : result.error.code;
      const fired = watched.ended(context.authority().mode, code, hasStarted);
      return fired && go(fired);
    },
  };
}

function isOfResource(trigger: ModeTrigger): trigger is ResourceTrigger {
  return trigger.on === "space" || trigger.on === "memory" || trigger.on === "backlog";
}

const MIB = 1_048_576;

/**
 * Triggers to `DEGRADED` for an unattended service: the storage of the log or the memory is short,
 * or the log does not keep up. Failing calls cannot cause them. An available gauge triggers below
 * 256 MiB.
 */
export function defaultModeTriggers(resources: Resources = {}): readonly ModeTrigger[] {
  const freeBytes = 256 * MIB;
  return [
    { on: "space", to: "DEGRADED", ...(resources.freeSpaceBytes && { freeBytes }) },
    ...(resources.freeMemoryBytes ? [{ on: "memory", to: "DEGRADED", freeBytes } as const] : []),
    { on: "backlog", to: "DEGRADED", events: 10_000 },
  ];
}

import { isList } from "../../support/guards.ts";
import { knownMode } from "../../tool/modes.ts";
import type { ModeTrigger } from "./triggers.ts";

type Kind = ModeTrigger["on"];

/** The numbers of each kind of trigger, and whether it can lack them. */
const numbers = {
  errors: { count: "needed", windowMs: "needed" },
  "failure-rate": { ratio: "needed", minCalls: "needed", windowMs: "needed" },
  space: { freeBytes: "optional" },
  memory: { freeBytes: "needed" },
  backlog: { events: "needed" },
} as const satisfies Record<Kind, Readonly<Record<string, "needed" | "optional">>>;

const kinds: ReadonlyMap<string, Readonly<Record<string, "needed" | "optional">>> = new Map(Object.entries(numbers));

/** @throws TypeError for a malformed list of triggers, which could not fire */
export function checkedTriggers(triggers: readonly ModeTrigger[]): readonly ModeTrigger[] {
  if (!isList(triggers)) throw new TypeError("`modeTriggers` is not a list of triggers.");
  for (const [at, trigger] of triggers.entries()) checkTrigger(trigger, `modeTriggers/${at}`);
  return triggers;
}

function checkTrigger(trigger: ModeTrigger & { readonly [name: string]: unknown }, at: string): void {
  const { on, to, codes } = trigger;
  const wanted = kinds.get(on);
  if (!wanted) throw new TypeError(`${at}/on is not one of ${[...kinds.keys()].join(", ")}.`);
  for (const [name, need] of Object.entries(wanted)) {
    const given = trigger[name];
    const isFine = given === undefined ? need === "optional" : typeof given === "number" && given > 0;
    if (!isFine) throw new TypeError(`${at}/${name} is not a number above 0.`);
  }
  if (on === "errors" && !Array.isArray(codes)) throw new TypeError(`${at}/codes is not a list of error codes.`);
  knownMode(to);
}

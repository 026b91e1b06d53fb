import { toolCall } from "../../capability/families/tool-call.ts";
import type { Extension, ExtensionContext } from "../extension.ts";
import { callerOf, NestedCalls } from "./nested-calls.ts";

/** Lets tools with `tool.call` call tools. */
export function nested(): Extension {
  let context: ExtensionContext;
  return {
    name: "nested",
    families: [toolCall],
    open: (given) => void (context = given),
    brokersOf(state, deadline) {
      if (!state.grant.declared.some(({ family }) => family.isCall)) return [];
      const { openCall, perform } = context;
      return [
        new NestedCalls(callerOf(state, deadline), (name, input, options, parent) =>
          perform(openCall(name, options, parent), { phase: "arrival", input }),
        ),
      ];
    },
  };
}

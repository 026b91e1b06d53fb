import type { ConditionSpec, Destination } from "../family.ts";
import { checkHostPattern, hostMatcher, isReached } from "./hosts.ts";

/** The condition `host` of rules and the list `hosts`, for every kind whose requests go to a host. */
export function hostCondition<N extends Destination>(): ConditionSpec<N> {
  return {
    check: checkHostPattern,
    touches(patterns) {
      const matches = hostMatcher(patterns);
      return ({ host }) => matches(host, true);
    },
    list: {
      name: "hosts",
      covers(patterns) {
        const matches = hostMatcher(patterns);
        return (need) => matches(need.host, isReached(need));
      },
      text: ({ host }) => host,
    },
  };
}

import type { JsonValue } from "@keyhole/kernel";
import { type CommandOptions, isObject } from "../io.ts";

/** Says which parts of the policy begin empty with a log that is new at each start: a client starts this command once for each session. */
export function freshNote(policy: JsonValue, options: CommandOptions): string {
  if (options["review"] === true || options["suggest"] === true) return "";
  const parts = rememberedBy(policy);
  if (parts.length === 0) return "";
  return `This process has a log of its own. The policy has ${parts.join(", ")}: each start begins without earlier calls, and another process does not see them.\n`;
}

function rememberedBy(policy: JsonValue): readonly string[] {
  const { rules, tools, labels } = isObject(policy) ? policy : {};
  const counts = (Array.isArray(rules) ? rules : []).some(
    (rule) => isObject(rule) && isObject(rule["when"]) && rule["when"]["count"] !== undefined,
  );
  const governed = isObject(tools) ? Object.values(tools).filter(isObject) : [];
  return [
    ...(counts ? ["`count`"] : []),
    ...(governed.some(({ rate }) => rate !== undefined) ? ["`rate`"] : []),
    ...(governed.some(({ bounds }) => isObject(bounds) && bounds["callsPerHour"] !== undefined)
      ? ["`callsPerHour`"]
      : []),
    ...(isObject(labels) && Object.keys(labels).length > 0 ? ["`labels`"] : []),
  ];
}

import type { ArgumentPattern, CommandPattern, RestPattern } from "../../../capability/matching/commands.ts";
import { distinct, globValues, unmentioned } from "./patterns.ts";
import type { Mentioned, NeedPart } from "./need-part.ts";
import { hasOwn } from "../../../support/guards.ts";

const mostLines = 4_000;

/** Command lines: each pattern's own, and with one argument more, one less, and another one at each place. */
export const commandValues: Pick<NeedPart, "values" | "isWhole"> = {
  values: (mentioned) => linesOf(mentioned).slice(0, mostLines),
  isWhole: (mentioned) => linesOf(mentioned).length <= mostLines,
};

function linesOf({ texts, others }: Mentioned): readonly object[] {
  const patterns = others.flatMap((each) => (isPattern(each) ? [each] : []));
  const byCommand = Map.groupBy(patterns, ({ command }) => command);
  const names = distinct([unmentioned, ...texts, ...byCommand.keys()]);
  return names.flatMap((command) => argumentLines(byCommand.get(command) ?? []).map((args) => ({ command, args })));
}

/** Every choice at each place, as long as there are few. */
function argumentLines(patterns: readonly CommandPattern[]): readonly (readonly string[])[] {
  const length = Math.max(0, ...patterns.map(({ args = [] }) => args.length));
  let lines: readonly (readonly string[])[] = [[]];
  const all: (readonly string[])[] = [[]];
  for (let place = 0; place <= length; place++) {
    const at = patterns.flatMap(({ args = [] }) => args[place] ?? restOf(args.at(-1)) ?? []);
    const choices = distinct([unmentioned, ...at.flatMap(argumentValues)]);
    lines = lines.slice(0, mostLines).flatMap((line) => choices.map((choice) => [...line, choice]));
    all.push(...lines);
    if (all.length > mostLines) break;
  }
  return all;
}

type Pattern = ArgumentPattern | RestPattern;

const restOf = (pattern: Pattern | undefined): Pattern | undefined =>
  typeof pattern === "object" && hasOwn(pattern, "rest") ? pattern : undefined;

function argumentValues(pattern: Pattern): readonly string[] {
  if (typeof pattern === "string") return [pattern];
  if (hasOwn(pattern, "rest")) return argumentValues(pattern.rest);
  if (hasOwn(pattern, "oneOf")) return pattern.oneOf;
  if (hasOwn(pattern, "prefix")) return [pattern.prefix, `${pattern.prefix}x`, `${pattern.prefix}../x`];
  if (hasOwn(pattern, "path")) return globValues(pattern.path);
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = pattern.number;
  return [min - 1, min, max, max + 1].map(String);
}

function isPattern(value: unknown): value is CommandPattern {
  return typeof value === "object" && value !== null && hasOwn(value, "command");
}

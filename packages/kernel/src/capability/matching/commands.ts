import { checkArgument, checkCommand } from "./command-names.ts";
import { PathWork } from "./path-work.ts";
import { checkGlob, checkPath, isUnder } from "./paths.ts";
import { couldStepUp } from "./step-up.ts";
import { shownPattern } from "../shown-pattern.ts";
import { foldLetters } from "../../support/fold.ts";
import { hasOwn } from "../../support/guards.ts";

/** A command and the arguments that it may be given. There is no shell, and no command line as one text. */
export interface CommandPattern {
  /** A name, matched exactly: never a path. */
  readonly command: string;
  /** One pattern per argument, in order; only the last may be a `rest`. Default: no arguments. */
  readonly args?: readonly (ArgumentPattern | RestPattern)[];
}

/**
 * The pattern of one argument: one exact text, or one of several forms. A form never matches an
 * option (a leading `-`) or a file of arguments (a leading `@`) by accident. The pattern has to
 * spell these out.
 */
export type ArgumentPattern =
  | string
  | { readonly oneOf: readonly string[] }
  /**
   * Matches a text with this beginning and without a step to a parent folder. `""` is any text that begins
   * like no option, of Windows (`/x`) as well, and like no absolute path. The prefix of an option is its full name: `--format=`.
   */
  | { readonly prefix: string }
  /** A relative path under one of these globs. */
  | { readonly path: readonly string[] }
  /** A whole number in decimal digits, both ends inclusive. `min` is 0 by default, `max` the largest safe integer. */
  | { readonly number: { readonly min?: number; readonly max?: number } };

/** Any number of arguments, none included, each of which fits. */
export interface RestPattern {
  readonly rest: ArgumentPattern;
}

/** Arguments of one command. */
const maxArguments = 1_000;
/** Characters of the arguments of one command, and steps of its paths through globs. No grant covers a command that takes more. */
const mostWork = 4_000_000;

type Pattern = ArgumentPattern | RestPattern;

/** The fault of a command's patterns. `path` points into them. */
export function checkCommandPattern({
  command,
  args = [],
}: CommandPattern): { readonly path: string; readonly reason: string } | undefined {
  const reason = checkCommand(command);
  if (reason) return { path: "/command", reason };
  for (const [index, pattern] of args.entries()) {
    const path = `/args/${index}`;
    if (isRest(pattern) && index < args.length - 1) return { path, reason: "only the last pattern is a `rest`" };
    const fault = isRest(pattern) ? checkPattern(pattern.rest) : checkPattern(pattern);
    if (fault) return { path, reason: fault };
  }
  return undefined;
}

function checkPattern(pattern: ArgumentPattern): string | undefined {
  if (typeof pattern === "string") return checkArgument(pattern);
  if (hasOwn(pattern, "oneOf")) return first(pattern.oneOf, checkArgument);
  if (hasOwn(pattern, "prefix")) return checkPrefix(pattern.prefix);
  if (hasOwn(pattern, "path")) return first(pattern.path, checkGlob);
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = pattern.number;
  return min > max ? "the first number is larger than the second" : undefined;
}

function first(values: readonly string[], check: (value: string) => string | undefined): string | undefined {
  for (const value of values) {
    const reason = check(value);
    if (reason) return reason;
  }
  return undefined;
}

function checkPrefix(prefix: string): string | undefined {
  if (/^[-@]/.test(prefix) && !/^--?[A-Za-z0-9][A-Za-z0-9-]*=/.test(prefix))
    return "the prefix of an option names the option whole, with its `=`; `@` is written out";
  return checkArgument(prefix);
}

function isRest(pattern: Pattern): pattern is RestPattern {
  return typeof pattern === "object" && hasOwn(pattern, "rest");
}

/** Whether one of the patterns grants a command with these arguments. The work for all of them has one bound. */
export function matchCommands(patterns: readonly CommandPattern[], name: string, args: readonly string[]): boolean {
  const work = new PathWork(mostWork);
  return patterns.some((pattern) => grantsCommand(pattern, name, args, work));
}

/** Whether a pattern grants a command with these arguments: one pattern each, and none left over on either side. */
export function matchCommand(pattern: CommandPattern, name: string, args: readonly string[]): boolean {
  return matchCommands([pattern], name, args);
}

function grantsCommand(
  { command, args: patterns = [] }: CommandPattern,
  name: string,
  args: readonly string[],
  work: PathWork,
): boolean {
  if (command !== name || args.length > maxArguments) return false;
  const last = patterns.at(-1);
  const rest = last !== undefined && isRest(last) ? last.rest : undefined;
  const fixed = rest === undefined ? patterns.length : patterns.length - 1;
  if (rest === undefined ? args.length !== fixed : args.length < fixed) return false;
  return args.every((argument, index) => {
    const pattern = index < fixed ? patterns[index] : rest;
    return (
      pattern !== undefined &&
      !isRest(pattern) &&
      work.take(argument.length + 1) &&
      checkArgument(argument) === undefined &&
      matchArgument(pattern, argument, work)
    );
  });
}

/** The beginnings of options, of files with arguments, and of a program's own commands (`+`). */
const special = /^[-@+]/;
/** The beginnings of options on Windows and of absolute paths. */
const elsewhere = /^(?:[/\\]|[A-Za-z]:)/;
/** Texts that some program replaces. */
const variable = /`|\$[A-Za-z_{(]|%(?![0-9A-Fa-f]{2}%)[A-Za-z_][A-Za-z0-9_]*%/;
/** Wildcards of paths, and a home folder at the beginning. */
const wildcard = /[{}*?]|^~/;
/** A value that is the name of a file to read: behind any `=`, or, for forms, behind the `=` of a field. */
const fileValue = /=@|[^=]=</;
const wholeNumber = /^(?:0|-?[1-9][0-9]{0,15})$/;

/**
 * The readings of an argument. On Windows programs get the nearest character of their code page. A
 * soft hyphen is a hyphen for some programs and absent for others.
 */
function readingsOf(argument: string): readonly string[] {
  if (/^[ -~]*$/.test(argument)) return [argument];
  return [argument, foldLetters(argument), foldLetters(argument.replaceAll("\u00ad", "-"))];
}

const isSpecial = (argument: string): boolean => readingsOf(argument).some((each) => special.test(each));

function matchArgument(pattern: ArgumentPattern, argument: string, work: PathWork): boolean {
  if (typeof pattern === "string") return argument === pattern;
  if (hasOwn(pattern, "oneOf")) return work.take(pattern.oneOf.length) && pattern.oneOf.includes(argument);
  if (hasOwn(pattern, "prefix")) return matchPrefix(pattern.prefix, argument);
  if (hasOwn(pattern, "path"))
    return (
      !isSpecial(argument) &&
      !wildcard.test(argument) &&
      !variable.test(argument) &&
      !couldStepUp(argument) &&
      checkPath(argument) === undefined &&
      isUnder(pattern.path, argument, "grant", work)
    );
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = pattern.number;
  const value = wholeNumber.test(argument) ? Number(argument) : Number.NaN;
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

function matchPrefix(prefix: string, argument: string): boolean {
  if (!argument.startsWith(prefix) || couldStepUp(argument)) return false;
  const tail = argument.slice(Math.max(0, prefix.length - 1));
  if (readingsOf(tail).some((each) => fileValue.test(each))) return false;
  if (prefix === "") return !isSpecial(argument) && !readingsOf(argument).some((each) => elsewhere.test(each));
  // Only the prefix of a place says where what follows is.
  return !/[/\\]/.test(prefix) || !variable.test(argument.slice(prefix.length));
}

/** As people write it: `git log --oneline <1–100>`. */
export function describeCommand({ command, args = [] }: CommandPattern): string {
  const describe = (pattern: Pattern): string => {
    if (typeof pattern === "string") return literal(pattern);
    if (hasOwn(pattern, "rest")) return `${describe(pattern.rest)}…`;
    if (hasOwn(pattern, "oneOf")) return `<${pattern.oneOf.map(literal).join("|")}>`;
    if (hasOwn(pattern, "prefix")) return pattern.prefix === "" ? "<text>" : `${literal(pattern.prefix)}<text>`;
    if (hasOwn(pattern, "path")) return `<path ${pattern.path.map(shownPattern).join("|")}>`;
    return `<${pattern.number.min ?? 0}–${pattern.number.max ?? ""}>`;
  };
  return [command, ...args.map(describe)].join(" ");
}

/** An argument has no wildcards: a `*` in it is no pattern. */
function literal(text: string): string {
  return text.includes("*") ? JSON.stringify(text) : shownPattern(text);
}

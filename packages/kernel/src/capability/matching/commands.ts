import { checkArgument, checkCommand } from "./command-names.ts";
import { PathWork } from "./path-work.ts";
import { checkGlob, checkPath, isUnder } from "./paths.ts";
import { isPlain, stepIn, urlPath } from "./plain.ts";
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
   * Matches a text with this beginning. Behind a place (`src/`, `https://h/a/`) the rest is a plain path below it. `""` is any text that begins
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

const wholeNumber = /^(?:0|-?[1-9][0-9]{0,15})$/;

function matchArgument(pattern: ArgumentPattern, argument: string, work: PathWork): boolean {
  if (typeof pattern === "string") return argument === pattern;
  if (hasOwn(pattern, "oneOf")) return work.take(pattern.oneOf.length) && pattern.oneOf.includes(argument);
  if (hasOwn(pattern, "prefix")) return matchPrefix(pattern.prefix, argument);
  if (hasOwn(pattern, "path"))
    return isText(argument) && isFile(argument) && isUnder(pattern.path, argument, "grant", work);
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = pattern.number;
  const value = wholeNumber.test(argument) ? Number(argument) : Number.NaN;
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

/** Behind the prefix of a place the rest stays below it; any other rest is a text. */
function matchPrefix(prefix: string, argument: string): boolean {
  if (!argument.startsWith(prefix)) return false;
  const tail = argument.slice(prefix.length);
  if (prefix.includes("://")) return isInUrl(tail);
  if (/[/\\]/.test(prefix)) return tail === "" || isFile(tail);
  // Behind `=` an option has its value, which begins as it likes.
  return isText(prefix === "" ? tail : `x${prefix.at(-1)!}${tail}`);
}

/** Programs read an option, a file, a program's own command or a folder at such a beginning. */
const special = /^[-@+/\\~\u00ad]|^[a-z]:/i;
/** As {@link special} in other letters. A file to read, named behind any `=` or, for forms, behind that of a field. A step to another folder. */
const notText = /^[-@+/\\~]|=@|[^=]=<|(?:^|[/\\=\s])\.\.(?=[/\\\s]|$)/;
/** Wildcards, groups, variables and escapes of some program. */
const expanded = /[*?{}[\]$`"^\\]|%(?![0-9a-f]{2})/i;

function isText(argument: string): boolean {
  return !special.test(argument) && !notText.test(foldLetters(argument));
}

/** A path of a URL, and a query or a fragment. */
function isInUrl(tail: string): boolean {
  const [path = ""] = tail.split(/[?#]/, 1);
  return !/[\t\n\r]/.test(tail) && !expanded.test(path) && isPlain(urlPath(`/${path}`));
}

/** A path of files. Folders of routers are names: `[id]`, `[...slug]`. A home folder is none, and some programs decode `%`. */
function isFile(path: string): boolean {
  const names = path.replace(/\[{1,2}(?:\.{3})?[\w-]+\]{1,2}/g, "");
  const isOne = checkPath(path) === undefined && stepIn(foldLetters(path)) === undefined;
  return isOne && !/^~|%/.test(path) && !expanded.test(names);
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

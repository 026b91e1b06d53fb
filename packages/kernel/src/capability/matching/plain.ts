import { foldLetters } from "../../support/fold.ts";
import { hasOwn } from "../../support/guards.ts";
import { parseUrl } from "../../support/parse-url.ts";

/**
 * One plain form for each kind of place, or a fault. A plain value has one reading, its key: one case, one form of Unicode, one spelling. Letters fold; steps, escapes of escapes and
 * control characters are refused. Where the order of steps would matter, the value is not plain. So a key is its own key, and gets no further step.
 */
export type Plain = { readonly key: string } | NotPlain;

export interface NotPlain {
  /** The offending part; the whole value if it is empty. */
  readonly part: string;
  /** The end of a sentence. */
  readonly fault: string;
  /** The plain spelling, if there is one. */
  readonly plain?: string;
}

export const isPlain = (value: Plain): value is { readonly key: string } => hasOwn(value, "key");

/** For the person or model that wrote the value: got, expected, next. */
export function notPlainText(value: string, { part, fault, plain }: NotPlain): string {
  const where = part === value || part === "" ? "" : ` (${JSON.stringify(part)})`;
  const next = plain === undefined ? "" : ` Write ${JSON.stringify(plain)}.`;
  return `${JSON.stringify(value)} is not plain: ${fault}${where}.${next}`;
}

type Check = readonly [sign: RegExp, fault: string];

/** UAX #15 knows no letter with more marks, and engines sort them slowly. */
export const marks: Check = [/[\p{M}\uff9e\uff9f]{31}/u, "a letter has more than 30 marks"];
const controls: Check = [/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/, "it has a control character"];
const pathChecks: readonly Check[] = [
  marks,
  controls,
  [/%u?[0-9a-f]{2}/i, "it is encoded twice"],
  [/\\/, "servers read a backslash as a slash"],
];
/** `ADMINI~1`, by which Windows finds a longer name, and the streams of a file. */
const otherName: Check = [
  /(?<![^/])[^~./]{1,6}~[0-9]{1,6}(?=[./]|$)|:\$/,
  "a file system finds another file by this name",
];

export function faultIn(text: string, checks: readonly Check[]): NotPlain | undefined {
  if (!text.isWellFormed()) return { part: "", fault: "it is not well-formed Unicode" };
  for (const [sign, fault] of checks) {
    const [part] = sign.exec(text) ?? [];
    if (part !== undefined) return { part, fault };
  }
  return undefined;
}

/** A name of one or two dots, up to what readers cut off. */
const step = /^[ +]*\.{1,2}(?:[ +][. +]*)?(?:[;?#:]|$)/;
/** Spaces for those who trim, which no form of Unicode takes for one. */
const otherSpaces = /[\u1680\u2800]/g;

const foldPath = (text: string): string => foldLetters(text).replace(otherSpaces, " ");

export const stepFault = "it has a step to another folder";

/** The name of a folded path that readers take for a step to another folder. */
export function stepIn(folded: string): string | undefined {
  return folded.split("/").find((name) => step.test(name));
}

/**
 * The path of a URL, as it is sent (RFC 3986, 3.3): without a step to another folder, a `\` and an escape of an escape. The key has no parameters, no empty names, and no dots, spaces and pluses around a name. A plus is a space.
 */
export function urlPath(path: string): Plain {
  const read = readUrlPath(path);
  if (isPlain(read)) return read;
  const plain = plainSpelling(path);
  return plain !== undefined && isPlain(readUrlPath(plain)) ? { ...read, plain } : read;
}

function readUrlPath(path: string): Plain {
  const text = decoded(path);
  if (text === undefined) return { part: brokenEscape.exec(path)?.[0] ?? "", fault: "an escape is no UTF-8" };
  const folded = foldable(text) && foldPath(text);
  const fault = faultIn(text, pathChecks) ?? (folded === false ? undefined : faultIn(folded, pathChecks));
  if (fault || folded === false) return fault ?? { part: "", fault: marks[1] };
  const cut = path.split("/").find((name) => /;|%3b/i.test(name) && /%2f/i.test(name));
  if (cut !== undefined) return { part: cut, fault: "servers end its parameter at different places" };
  const other = stepIn(folded);
  if (other !== undefined) return { part: other, fault: stepFault };
  const key = `/${folded.split("/").flatMap(bareName).join("/").replaceAll(" ", "+")}`;
  return faultIn(key, [otherName]) ?? { key };
}

/** Folding first puts marks in their order. */
const foldable = (text: string): boolean => !marks[0].test(text);

const brokenEscape = /%(?![0-9a-f]{2}).{0,2}|(?:%[89a-f].)+/i;

export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A name without parameters and what readers drop at its ends; none where nothing is left. */
function bareName(name: string): readonly string[] {
  const own = name.replace(/[;?#].*/s, "");
  const kept = trimmed(own);
  return kept === "" && !own.includes(".") ? [] : [kept || "..."];
}

const isBlank = (sign: string | undefined): boolean => sign === " " || sign === "+";

function trimmed(name: string): string {
  let [from, to] = [0, name.length];
  while (isBlank(name[from])) from++;
  while (to > from && (name[to - 1] === "." || isBlank(name[to - 1]))) to--;
  return name.slice(from, to);
}

/** The path of a reader that decodes and resolves until nothing changes. */
function plainSpelling(path: string): string | undefined {
  let text = path;
  for (let round = 0; round < 4; round++) text = decoded(text) ?? text;
  return text.includes("\\") ? undefined : parseUrl(`http://h/${text.replace(/^\/+/, "")}`)?.pathname;
}

import { present } from "../../support/guards.ts";
import { toForm } from "../../support/unicode.ts";
import { foldLetters } from "../../support/fold.ts";
import { PathWork } from "./path-work.ts";

/**
 * Paths of files as tools name them: relative, `/`-separated, in one normal form. Any other form is
 * refused, not repaired, so one file has one name in every check and on every host.
 */

/**
 * The use of a pattern. A grant matches only what it surely means; a deny matches everything that
 * it could mean.
 */
export type Face = "grant" | "deny";

/** The longest that every store takes: R2 keys have 1,024 bytes, names in file systems 255. */
const pathBytes = 1_024;
const segmentBytes = 255;

/** C0, DEL, C1, line separators, and what reorders text before a person's eyes. */
export const hiddenCharacters: RegExp = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

/** Device names that Windows finds in every folder, with every extension. */
const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\.|$)/i;

/** By which Windows finds a file or folder that has a longer name. */
const shortName = /^(?=[^.]{1,8}(?:\.|$))[^.]+~\d+(?:\.[^.]{0,3})?$/;

/** Chromium writes such a file beside another one, with its new content. A rule about the file would not meet it. */
const swapName = /\.crswap$/i;

/** The fault of a path, as the end of a sentence. */
export function checkPath(path: string): string | undefined {
  if (path === "") return "a path is not empty";
  if (path.startsWith("/")) return "a path is relative";
  if (!path.isWellFormed()) return "a path is well-formed Unicode";
  if (hiddenCharacters.test(path)) return "a path has no control characters";
  if (path.includes("\\")) return "a path has / between its names, and no \\";
  if (path.includes(":")) return "a path has no drive and no stream, and : has no place in it";
  if (utf8Length(path) > pathBytes) return `a path has at most ${pathBytes} bytes`;
  if (toForm("NFC", path) !== path) return "a path is in Unicode normalization form C";
  for (const segment of path.split("/")) {
    const reason = checkSegment(segment);
    if (reason) return reason;
  }
  return undefined;
}

function checkSegment(segment: string): string | undefined {
  if (segment === "") return "a path has no empty segments";
  if (segment === "." || segment === "..") return "a path has no `.` or `..`";
  if (/[. ]$/.test(segment) || segment.startsWith(" "))
    return "a segment does not end in a dot or begin or end in a space";
  if (deviceName.test(segment)) return "a segment is not the name of a Windows device";
  if (shortName.test(segment)) return "a segment is not a short name of Windows";
  if (swapName.test(segment)) return "a segment does not end in .crswap, as files of browsers do";
  if (utf8Length(segment) > segmentBytes) return `a segment has at most ${segmentBytes} bytes`;
  return undefined;
}

/**
 * Wildcards, groups, negations, homes and variables of shells and other tools. Here they would stand
 * for themselves, and a rule with them would match nothing. `[` and `]` are letters: folders of
 * routers have such names (`[id]`).
 */
export const foreignPattern: RegExp = /[?{}]|[@+!]\(|^[!~$]/;

/**
 * The fault of a glob, as the end of a sentence. A glob is a path in which `*` stands for a part of
 * a segment, `**` for any segments.
 */
export function checkGlob(glob: string): string | undefined {
  if (foreignPattern.test(glob)) return "only `*` and `**` are wildcards";
  const segments = glob.split("/");
  if (segments.some((segment) => segment.includes("**") && segment !== "**")) return "`**` is a whole segment";
  return checkPath(segments.map((segment) => segment.replaceAll("*", "x")).join("/"));
}

/**
 * Whether a glob covers a path; both have passed their checks, and `""` is the root. `notes/**` covers `notes` and everything below
 * it. Takes at most the product of both lengths.
 */
export function matchPath(glob: string, path: string): boolean {
  return covers(glob, path, new PathWork(mostSteps)) === true;
}

/** Steps of one request through all globs of a list. */
const mostSteps = 4_000_000;

/** `undefined` where it takes more work than is left. */
function covers(glob: string, path: string, work: PathWork): boolean | undefined {
  if (!work.take(glob.length)) return undefined;
  const patterns = glob.split("/");
  const segments = path === "" ? [] : path.split("/");
  return matchSequence(patterns.length, segments.length, {
    isAny: (at) => patterns[at] === "**",
    matches: (at, position) => matchSegment(present(patterns[at]), present(segments[position]), work),
    work,
  });
}

/**
 * {@link matchPath} over many globs. A deny matches every spelling that some file system treats as
 * the same name: another case, compatibility characters, invisible characters.
 */
export function pathMatcher(globs: readonly string[], face: Face): (path: string) => boolean {
  if (face === "grant") return (path) => isUnder(globs, path, face);
  const patterns = [...new Set(globs.flatMap(foldedForms))];
  return (path) => {
    const forms = foldedForms(path);
    return forms.some((each) => stepsUp.test(each) || isUnder(patterns, each, face));
  };
}

/** A path or a glob as it is folded, and without what some file systems then drop. One form, as most have. */
function foldedForms(text: string): readonly string[] {
  const folded = foldLetters(text);
  const plain = plainPath(folded);
  return plain === folded ? [folded] : [folded, plain];
}

const stepsUp = /(?:^|\/)\.\.(?:\/|$)/;

/** A folded path with one separator, and without what Windows drops: folding makes separators, dots and spaces that the path did not have. What follows a wildcard stays. */
function plainPath(folded: string): string {
  return folded
    .replace(/[\\/]+/g, "/")
    .replace(/(?<![^/])\.(?=\/|$)\/?/g, "")
    .replace(/([^/. *])[. ]+(?=\/|$)/g, "$1")
    .replace(/^\/|\/$/g, "");
}

/** Whether one of the globs covers a path. Where that takes more work than is left, all that deny do, and none that grants. */
export function isUnder(
  globs: readonly string[],
  path: string,
  face: Face,
  work: PathWork = new PathWork(mostSteps),
): boolean {
  return globs.some((glob) => covers(glob, path, work) ?? face === "deny");
}

function matchSegment(pattern: string, segment: string, work: PathWork): boolean | undefined {
  if (!pattern.includes("*")) return pattern === segment;
  return matchSequence(pattern.length, segment.length, {
    isAny: (at) => pattern[at] === "*",
    matches: (at, position) => pattern[at] === segment[position],
    work,
  });
}

interface Sequence {
  /** Whether the pattern's element stands for any number of elements. */
  readonly isAny: (at: number) => boolean;
  readonly matches: (at: number, position: number) => boolean | undefined;
  readonly work: PathWork;
}

/** Wildcard matching that only ever goes back to the last wildcard: no pattern makes it exponential. */
function matchSequence(patternLength: number, length: number, { isAny, matches, work }: Sequence): boolean | undefined {
  let at = 0;
  let position = 0;
  let lastAny = -1;
  let resume = 0;
  while (position < length) {
    if (!work.take(1)) return undefined;
    if (at < patternLength && isAny(at)) {
      lastAny = at++;
      resume = position;
    } else if (at < patternLength && matches(at, position)) {
      at++;
      position++;
    } else if (lastAny >= 0) {
      at = lastAny + 1;
      position = ++resume;
    } else {
      // Also where no comparison of the elements reached their end.
      return work.left < 0 ? undefined : false;
    }
  }
  while (at < patternLength && isAny(at)) at++;
  return at === patternLength;
}

export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

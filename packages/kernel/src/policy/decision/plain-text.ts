import { plainHost } from "../../capability/matching/hosts.ts";
import { checkPath } from "../../capability/matching/paths.ts";
import {
  decoded,
  faultIn,
  isPlain,
  marks,
  type NotPlain,
  type Plain,
  stepFault,
  stepIn,
  urlPath,
} from "../../capability/matching/plain.ts";
import { foldText, foldWork } from "../../support/fold.ts";
import { parseUrl } from "../../support/parse-url.ts";

/**
 * Kinds of values. The rule's own text says what an argument is, and the argument never does. Only an allow looks at it, too: `any` is a place or a text, as it
 * looks.
 */
export type TextKind = "text" | "number" | "url" | "path" | "host" | "file" | "any";

export type Scalar = string | number | boolean | null;

const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const withPlace = /^[a-z][a-z0-9+.-]*:\/\//i;
const asPath = /^(?:\.{0,2}[/\\]|~[/\\]|[a-z]:[/\\])/i;
const asPlace = /^(?:[a-z][a-z0-9+.-]*:[/\\]|\.{0,2}[/\\]|~[/\\]|[a-z]:)|^\S*(?:^|[/\\])\.\.(?:[/\\]|$)/i;

/** The kind of a text that a rule names. */
export function kindOf(literal: Scalar): TextKind {
  if (typeof literal === "number") return "number";
  const text = String(literal).trim();
  if (plainNumber.test(text)) return "number";
  if (withPlace.test(text)) return parseUrl(text) ? "url" : "text";
  return asPath.test(text) ? "path" : "text";
}

/** A beginning says nothing about a number. */
export function kindOfStart(literal: string): TextKind {
  const kind = kindOf(literal);
  return kind === "number" ? "text" : kind;
}

/** The key of a text that a rule names. A checked document has plain ones alone. */
export function keyOf(literal: Scalar, kind: TextKind): string {
  const plain = plainText(literal, kind);
  return isPlain(plain) ? plain.key : "";
}

/** UTF-16 units that {@link plainText} works on. It looks no further than `most`. */
export function textWork(value: Scalar, kind: TextKind, most: number): number {
  if (typeof value !== "string" || kind === "file") return 0;
  // An escape of a URL takes nine signs for what stands for eighteen.
  return foldWork(value, most) + (value.includes("%") ? value.length : 0);
}

/** A value of an argument in its one plain form, or the fault. Runs of white space are one space. */
export function plainText(value: Scalar, kind: TextKind): Plain {
  if (typeof value === "number" && kind === "number")
    return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? { key: String(value + 0) } : readTwice;
  const given = kind === "file" ? String(value) : String(value).trim();
  return readers[kind === "any" ? looksLike(given) : kind](given, kind);
}

function looksLike(given: string): "text" | "url" | "path" {
  if (!asPlace.test(given)) return "text";
  return given.includes("://") ? "url" : "path";
}

const readTwice: NotPlain = { part: "", fault: "readers take different numbers from it" };
const notOpen: NotPlain = { part: "#", fault: "its end is no part of the place" };

const readers: Readonly<Record<Exclude<TextKind, "any">, (given: string, kind: TextKind) => Plain>> = {
  text: (given) => folded(given),
  number(given) {
    const text = folded(given);
    return isPlain(text) && /^[+-]?\.?\d/.test(text.key) ? numberIn(given, text.key) : text;
  },
  url: (given, kind) => (kind === "any" && given.includes("#") ? notOpen : urlIn(given)),
  path: (given, kind) => (kind === "any" && given.includes("#") ? notOpen : pathIn(given)),
  host: plainHost,
  file(given) {
    const fault = checkPath(given);
    return fault === undefined ? (faultIn(given, [escapes]) ?? { key: given }) : { part: "", fault };
  },
};

/** All but a tab and the breaks of lines. */
const controls = [
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/,
  "it has a control character",
] as const;
/** A file is found by its name as it is. Who reads an argument may decode it. */
const escapes = [/%(?:[0-9a-f]{2}|[%u])/i, "some readers decode it"] as const;
const controlsInPlace = [/[\u0000-\u001f\u007f-\u009f]/, controls[1]] as const;

function folded(given: string): Plain {
  return faultIn(given, [marks, controls]) ?? { key: foldText(given) };
}

/** Numbers up to 15 digits by what they are, longer ones by their digits: JSON would round them. */
function numberIn(given: string, text: string): Plain {
  const isExact = given.length <= 15;
  if (plainNumber.test(given) && (isExact || !given.includes(".")))
    return { key: isExact ? String(Number(given) + 0) : given };
  const number = Number(text);
  return Number.isSafeInteger(number) ? { ...readTwice, plain: String(number + 0) } : readTwice;
}

function urlIn(given: string): Plain {
  const fault = faultIn(given, [marks, controlsInPlace]);
  if (fault) return fault;
  const url = withPlace.test(given) && !given.includes("\\") ? parseUrl(given) : undefined;
  if (!url) return { part: "", fault: "it is no URL in full" };
  const { protocol, hostname, username, password, port, pathname, search, href } = url;
  if (username !== "" || password !== "") return { part: username, fault: "it has a user name or a password" };
  const [, written = ""] = /^[^/]*\/\/[^/?#]*([^?#]*)/.exec(given) ?? [];
  const step = stepIn(decoded(written) ?? "");
  if (step !== undefined) return { part: step, fault: stepFault, plain: href };
  const isWeb = /^(?:https?|wss?|ftp):$/.test(protocol);
  const host = hostname === "" ? { key: "" } : plainHost(isWeb ? given : hostname.toLowerCase());
  const path = urlPath(pathname);
  if (!isPlain(host) || !isPlain(path)) return isPlain(host) ? path : host;
  return { key: `${protocol}//${host.key}${port && `:${port}`}${path.key}${foldText(search)}` };
}

function pathIn(given: string): Plain {
  const fault = faultIn(given, [marks, controlsInPlace]);
  if (fault) return fault;
  const whole = foldText(given).replaceAll("\\", "/").replace(/#.*/s, "");
  const key = whole.replace(/^(?:\.\/)+|^\/+(?=\/)/, "").trim();
  const names = key.split("/");
  if (stepIn(key) !== undefined) return { part: stepIn(key)!, fault: stepFault };
  if (names.slice(1, -1).includes("")) return { part: "//", fault: "a name is empty" };
  return faultIn(key, [escapes]) ?? { key };
}

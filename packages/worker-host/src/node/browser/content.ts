import type { BrokerError, CallSecrets, JsonValue } from "@keyhole/kernel";
import type { PageBounds } from "./in-page.ts";
import type { Visit } from "./request.ts";
import { memberOf, textOf } from "./values.ts";

/** Characters that are read of a page where nothing is searched for, beside its text. */
const ordinary = { titleLength: 500, urlLength: 9_000, partLength: 10_000 };
/**
 * Bounds of complete texts, for a search: a text that is cut earlier can contain a part of a
 * secret, which the search does not find.
 */
const whole = { titleLength: 50_000, urlLength: 50_000, partLength: 500_000, textLength: 1_000_000 };
/** Behind a cut that the page's own length made, so much could be a part of a secret: 100 characters for each of the longest one. */
const heldBack = 409_600;

/** The bounds of the page's script. */
export function boundsFor({ textLength }: Visit, isSearching: boolean): PageBounds {
  if (!isSearching) return { ...ordinary, textLength, isWhole: false };
  return { ...whole, textLength: textLength === 0 ? 0 : whole.textLength, isWhole: true };
}

/** Why a part of the answer would be the tool's choice, where answers are searched for secrets. */
export function chosenPart({ extract, screenshot }: Visit): string | undefined {
  if (screenshot !== "none") return "the kernel cannot search a picture for the secrets with a grant there";
  // `[value^="a"]` tells whether a secret begins with `a`.
  return extract.some(({ selector }) => /[~|^$*]=/.test(selector))
    ? "a selector that matches a part of an attribute tells a part of a secret"
    : undefined;
}

/** As the script sends it, of a page without anything. */
export function emptyContent(url: string, { extract }: Visit): unknown {
  return { url, extracted: extract.map(() => ({ count: 0, values: [] })) };
}

type Content =
  | { readonly ok: true; readonly value: Record<string, JsonValue> }
  | { readonly ok: false; readonly error: BrokerError };

/** The content from the page's script, searched for secrets and then cut. */
export async function contentOf(
  content: unknown,
  { textLength: wanted }: Visit,
  secrets: CallSecrets,
  isWhole: boolean,
): Promise<Content> {
  let failed: BrokerError | undefined;
  const shown = async (value: unknown, mostCharacters: number, isCut = false): Promise<string> => {
    const redacted = await secrets.redact(textOf(value, whole.textLength));
    if (!redacted.ok) failed = redacted.error;
    const text = redacted.ok ? redacted.value : "";
    return textOf(isCut ? text.slice(0, -heldBack) : text, mostCharacters);
  };
  const textLength = Number(memberOf(content, "textLength")) || 0;
  const found = memberOf(content, "extracted");
  const extracted: JsonValue[] = [];
  for (const each of Array.isArray(found) ? (found as readonly unknown[]) : []) {
    const values = memberOf(each, "values");
    const parts: JsonValue[] = [];
    for (const value of Array.isArray(values) ? (values as readonly unknown[]) : [])
      parts.push(value === null ? null : await shown(value, ordinary.partLength));
    const isInvalid = memberOf(each, "isInvalid") === true;
    extracted.push({
      count: Number(memberOf(each, "count")) || 0,
      values: parts,
      ...(isInvalid && { isInvalid }),
    });
  }
  const value = {
    url: await shown(memberOf(content, "url"), ordinary.urlLength),
    title: await shown(memberOf(content, "title"), ordinary.titleLength),
    text: await shown(memberOf(content, "text"), wanted, isWhole && textLength > whole.textLength),
    textLength,
    extracted,
  };
  return failed ? { ok: false, error: failed } : { ok: true, value };
}

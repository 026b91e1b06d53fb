import { parseUrl } from "../support/parse-url.ts";
import { attempt } from "./attempt.ts";

/** Resolves a reference against a base, as the platform does; one that cannot be resolved stays as it is. */
export function resolveUri(base: string, reference: string): string {
  return parseUrl(reference, base === "" ? undefined : base)?.href ?? reference;
}

/** Splits `uri#fragment`; the fragment is percent-decoded, and a broken escape stays as it is. */
export function splitFragment(uri: string): [uri: string, fragment: string] {
  const hash = uri.indexOf("#");
  if (hash < 0) return [uri, ""];
  const fragment = uri.slice(hash + 1);
  return [uri.slice(0, hash), attempt(() => decodeURIComponent(fragment)) ?? fragment];
}

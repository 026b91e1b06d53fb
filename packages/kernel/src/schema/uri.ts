/** RFC 3986 appendix B, without the fragment: 1 scheme, 2 authority, 3 path, 4 query. */
const PARTS = /^([^:/?#]+:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?/;

function withoutDots(path: string): string {
  const out: string[] = [];
  const segments = path.split("/");
  segments.forEach((segment, index) => {
    const last = index === segments.length - 1;
    if (segment === "..") {
      if (out.length > 1) out.pop();
      if (last) out.push("");
    } else if (segment !== ".") out.push(segment);
    else if (last) out.push("");
  });
  return out.join("/");
}

/** Resolves a reference without its fragment against a base, as RFC 3986 section 5.2.2 does. */
export function resolveUri(base: string, reference: string): string {
  const [, scheme, authority, path = "", query = ""] = PARTS.exec(reference) as RegExpExecArray;
  if (scheme !== undefined) return scheme + (authority ?? "") + withoutDots(path) + query;
  const [, bScheme = "", bAuthority = "", bPath = "", bQuery = ""] = PARTS.exec(base) as RegExpExecArray;
  if (authority !== undefined) return bScheme + authority + withoutDots(path) + query;
  if (path === "") return bScheme + bAuthority + bPath + (query === "" ? bQuery : query);
  if (path.startsWith("/")) return bScheme + bAuthority + withoutDots(path) + query;
  const folder = bAuthority !== "" && bPath === "" ? "/" : bPath.slice(0, bPath.lastIndexOf("/") + 1);
  return bScheme + bAuthority + withoutDots(folder + path) + query;
}

/** Splits `uri#fragment`; the fragment is percent-decoded, and a broken escape stays as it is. */
export function splitFragment(uri: string): [uri: string, fragment: string] {
  const hash = uri.indexOf("#");
  if (hash < 0) return [uri, ""];
  const fragment = uri.slice(hash + 1);
  if (!fragment.includes("%")) return [uri.slice(0, hash), fragment];
  try {
    return [uri.slice(0, hash), decodeURIComponent(fragment)];
  } catch {
    return [uri.slice(0, hash), fragment];
  }
}

/** One reference token of a JSON Pointer (RFC 6901 section 4), escaped. */
export function escapeToken(token: string): string {
  return /[~/]/.test(token) ? token.replaceAll("~", "~0").replaceAll("/", "~1") : token;
}

export function unescapeToken(token: string): string {
  return token.includes("~") ? token.replaceAll("~1", "/").replaceAll("~0", "~") : token;
}

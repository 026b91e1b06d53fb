import { PathTree } from "./path-tree.ts";
import { isPlain, type NotPlain, notPlainText, type Plain, urlPath } from "./plain.ts";

/*
 * Prefixes of paths of the network. A grant covers a path that is plain and lies under it as written. A deny meets one whose key lies under it, and each one that is not plain.
 */

/** The fault of a prefix, as the end of a sentence. Paths of files are globs, paths of the network are prefixes. */
export function checkPathPrefix(path: string): string | undefined {
  if (!path.startsWith("/")) return "a path prefix starts with /";
  if (/[*?#{}[\]]/.test(path)) return "a path prefix has no wildcards";
  const read = urlPath(path);
  return isPlain(read) ? undefined : faultOf(read);
}

function faultOf({ fault, plain }: NotPlain): string {
  return plain === undefined ? fault : `${fault}; write ${JSON.stringify(plain)}`;
}

/** The last one that was asked about: all that is asked about one request meets it, and it is read once. */
let last: { readonly path: string; readonly plain: Plain } | undefined;

function read(path: string): Plain {
  if (last?.path !== path) last = { path, plain: urlPath(path) };
  return last.plain;
}

/** Why a path is not plain, and its plain spelling. */
export function pathFault(path: string): string | undefined {
  const plain = read(path);
  return isPlain(plain) ? undefined : notPlainText(path, plain);
}

/** Whether prefixes grant a path: `/a` does `/a` and `/a/b`, not `/ab`. Only `/` grants a path that is not plain. */
export function pathGranter(prefixes: readonly string[]): (path: string) => boolean {
  if (prefixes.includes("/")) return () => true;
  const written = new PathTree(prefixes);
  return (path) => written.has(path.split("/")) && isPlain(read(path));
}

/** Whether what forbids some prefixes meets a path. */
export function pathToucher(prefixes: readonly string[]): (path: string) => boolean {
  const keys = prefixes.map(urlPath);
  const denied = new PathTree(keys.map((each) => (isPlain(each) ? each.key : "/")));
  return (path) => {
    const plain = read(path);
    return prefixes.length > 0 && (!isPlain(plain) || denied.meets(plain.key.split("/")));
  };
}

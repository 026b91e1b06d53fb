import { foldNumber, numbersAtStart } from "../../support/fold.ts";
import type { PathWork } from "./path-work.ts";
import { keyOf, type Route } from "./url-routes.ts";

/** A path on the way to forbidden ones, or one of them. */
interface PathNode {
  readonly children: Map<string, PathNode>;
  /** Names of files below that are forbidden, without their extensions: some servers find the file by them. */
  readonly bare: Set<string>;
  /** Forbids this place and everything below. */
  isForbidden: boolean;
  /** Forbids this place alone: the index of a folder is forbidden. */
  isFolderOfIndex: boolean;
  /** Short names of the children, made when the first is asked for. */
  short: ReadonlySet<string> | undefined;
}

/** The cost of a look-up, in characters read. */
const stepWork = 16;
/** Servers answer for a folder with one of these. */
const indexName = /^(?:index|default)$/;
/** `ADMINI~1`: how Windows abbreviates a long name (8.3). */
const shortName = /^([^~]{1,6})~([0-9]{1,6})(?:\.|$)/;
/** The same, from the fifth name of one beginning on: two letters and a checksum. */
const checksummed = /^(.{0,2})[0-9a-f]{4}$/;

/** Prefixes of paths that something forbids. A name that is a number is met in each of its spellings, and by what begins with it: routers read it as one. A route goes through them as any server, and any router behind it, could take it. */
export class ForbiddenPaths {
  readonly #root = newNode();

  constructor(prefixes: readonly string[]) {
    for (const prefix of prefixes) {
      const segments = prefix.split("/").filter((each) => each !== "");
      this.#add(segments);
      if (segments.some(keyOf)) this.#add(segments.flatMap((each) => keyOf(each) ?? each));
      // The script without its extension, and the rest of the path behind it.
      const folders = segments.map((each, at) => (at < segments.length - 1 ? withoutExtensions(each).at(-1)! : each));
      if (folders.some((each, at) => each !== segments[at])) this.#add(folders);
      for (const place of behindScripts(segments)) this.#add(place);
    }
  }

  #add(segments: readonly string[]): void {
    let node = this.#root;
    let above = node;
    for (const segment of segments) {
      const name = foldNumber(segment);
      const child = node.children.get(name) ?? newNode();
      node.children.set(name, child);
      above = node;
      node = child;
    }
    node.isForbidden = true;
    const last = segments.at(-1);
    if (last === undefined) return;
    const names = withoutExtensions(last);
    for (const name of names.slice(1)) above.bare.add(foldNumber(name));
    if (indexName.test(names.at(-1)!)) above.isFolderOfIndex = true;
  }

  /** Whether one of the routes leads to a forbidden path, or all of them take more work than is left. */
  meets(routes: readonly Route[], work: PathWork): boolean {
    return this.#root.isForbidden || routes.some((route) => this.#meets(route, work));
  }

  #meets({ segments, lastTurn }: Route, work: PathWork): boolean {
    // All places where the route could be, for each depth: a step up goes back to those before.
    const depths: ReadonlySet<PathNode>[] = [new Set([this.#root])];
    let isBehindScript = false;
    for (const [at, segment] of segments.entries()) {
      const from = depths.at(-1)!;
      if (from.size === 0 && at > lastTurn) return false;
      if (!work.take(stepWork * (1 + from.size * (1 + segment.cuts.length)))) return true;
      if (segment.name === ".") continue;
      if (segment.name === "..") {
        if (depths.length > 1) depths.pop();
        // No step up leaves the path that a script receives.
        if (isBehindScript) depths.push(new Set([...depths.pop()!, this.#root]));
        continue;
      }
      const to = new Set<PathNode>(segment.isScript || segment.isGroup ? from : []);
      for (const node of from) {
        if (isNamed(node, segment)) return true;
        for (const name of [segment.name, ...segment.cuts]) {
          const child = node.children.get(foldNumber(name));
          if (child?.isForbidden === true) return true;
          if (child) to.add(child);
        }
        for (const child of keyed(node, segment)) {
          if (child.isForbidden) return true;
          to.add(child);
        }
      }
      if (segment.isScript) {
        to.add(this.#root);
        isBehindScript = true;
      }
      depths.push(to);
    }
    return [...depths.at(-1)!].some((each) => each.isFolderOfIndex);
  }
}

function keyed(node: PathNode, { key: found }: Route["segments"][number]): readonly PathNode[] {
  if (!found) return [];
  const [collection, key] = found;
  const above = node.children.get(foldNumber(collection));
  return [foldNumber(key), ...numbersAtStart(key)].flatMap((each) => above?.children.get(each) ?? []);
}

/** Whether a segment names a forbidden file without its extension, or could be the short name of anything on the way to one. */
function isNamed(node: PathNode, { name, called }: Route["segments"][number]): boolean {
  if (node.bare.size > 0 && [name, ...called].some((each) => node.bare.has(foldNumber(each)))) return true;
  const [, beginning = "", number = ""] = shortName.exec(name) ?? [];
  if (beginning === "") return false;
  node.short ??= new Set([...node.children.keys()].flatMap(shortNamesOf));
  const [, letters] = checksummed.exec(beginning) ?? [];
  return node.short.has(`${beginning}~${number.length}`) || (letters !== undefined && node.short.has(`${letters}#`));
}

/** The beginnings of a name's short names, each with the digits that its number has; and with `#` for a checksum. */
function shortNamesOf(name: string): readonly string[] {
  const end = name.lastIndexOf(".");
  const letters = (end > 0 ? name.slice(0, end) : name).replace(/[. ]/g, "").replace(/[+,;=[\]]/g, "_");
  return [1, 2, 3, 4, 5, 6]
    .map((digits) => `${letters.slice(0, 7 - digits)}~${digits}`)
    .concat(`${letters.slice(0, 2)}#`);
}

/**
 * Places that a server passes to a script in a path: beside the script, and at the root. Policies
 * name them without the script.
 */
function behindScripts(segments: readonly string[]): readonly (readonly string[])[] {
  const isScript = (name: string): boolean => withoutExtensions(name).length > 1;
  const last = segments.findLastIndex((each, at) => at < segments.length - 1 && isScript(each));
  if (last < 0) return [];
  return [segments.filter((each, at) => at > last || !isScript(each)), segments.slice(last + 1)];
}

/** More of them are no extensions of a file. */
const mostExtensions = 4;

/** A name, without its last extension, and so on. A number is a version and no extension. */
function withoutExtensions(name: string): readonly string[] {
  const names = [name];
  for (let rest = name; names.length <= mostExtensions; names.push(rest)) {
    const dot = rest.lastIndexOf(".");
    const isExtension = dot > 0 && /^[a-z][a-z0-9]*$/.test(rest.slice(dot + 1));
    if (!isExtension) break;
    rest = rest.slice(0, dot);
  }
  return names;
}

function newNode(): PathNode {
  return { children: new Map(), bare: new Set(), isForbidden: false, isFolderOfIndex: false, short: undefined };
}

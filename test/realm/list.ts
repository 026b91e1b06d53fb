import { reasonOf } from "./reasons.ts";

/** The realms in which tools run, each with its letter in the list. */
export const realms = {
  N: "a thread of Node, for packages that are trusted",
  C: "a worker in Chromium",
  F: "a worker in Firefox",
  W: "a worker in WebKitGTK",
  D: "a dynamic Worker",
  I: "the interpreter, the same everywhere",
} as const;

export type Realm = keyof typeof realms;

/** Every property within a tool's reach, as `holder key`, with the letters of the realms that have it. */
export type List = ReadonlyMap<string, string>;

/** Reads {@link writeList}'s text. */
export function readList(text: string): List {
  const list = new Map<string, string>();
  let holder = "";
  for (const line of text.split("\n")) {
    const [, marks, keys] = /^ {2}(\S+) +(.+)$/.exec(line) ?? [];
    if (marks === undefined || keys === undefined) holder = line.replace(/:$/, "");
    else for (const key of keys.split("  ")) list.set(`${holder} | ${key}`, marks);
  }
  return list;
}

/** Holder by holder, what the same realms have on one line, with two spaces between keys. */
export function writeList(list: List): string {
  const holders = new Map<string, Map<string, string[]>>();
  for (const [path, marks] of [...list].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [holder = "", key = ""] = path.split(" | ");
    const lines = holders.get(holder) ?? new Map<string, string[]>();
    holders.set(holder, lines);
    lines.set(marks, [...(lines.get(marks) ?? []), key]);
  }
  const text = [...holders].map(([holder, lines]) => {
    const sorted = [...lines].sort(([a], [b]) => b.length - a.length || (a < b ? -1 : 1));
    return [`${holder}:`, ...sorted.map(([marks, keys]) => `  ${marks.padEnd(6)} ${keys.join("  ")}`)].join("\n");
  });
  return `${text.join("\n")}\n`;
}

/** The list with what one realm was found to have. */
export function withRealm(list: List, realm: Realm, found: ReadonlySet<string>): List {
  const next = new Map<string, string>();
  for (const path of new Set([...list.keys(), ...found])) {
    const others = (list.get(path) ?? "").replace(realm, "");
    const marks = Object.keys(realms).filter((mark) => others.includes(mark) || (mark === realm && found.has(path)));
    if (marks.length > 0) next.set(path, marks.join(""));
  }
  return next;
}

/** What a realm has and the list does not say, what it lacks, and what has no reason to be there. */
export function differences(list: List, realm: Realm, found: ReadonlySet<string>): string[] {
  const listed = [...list].filter(([, marks]) => marks.includes(realm)).map(([path]) => path);
  const reasonless = [...found].filter((path) => {
    const [holder = "", key = ""] = path.split(" | ");
    return reasonOf(holder, key) === undefined;
  });
  return [
    ...[...found].filter((path) => !listed.includes(path)).map((path) => `${path}: is not in the list`),
    ...listed.filter((path) => !found.has(path)).map((path) => `${path}: is in the list, and not in the realm`),
    ...reasonless.map((path) => `${path}: has no reason in reasons.ts`),
  ].sort();
}

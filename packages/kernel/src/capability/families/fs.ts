import { type Ask, bodyBytes } from "../ask.ts";
import type { Governed } from "../capability.ts";
import { defineFamily } from "../define-family.ts";
import type { Family } from "../family.ts";
import {
  capabilityLimits,
  count,
  isAmount,
  isFlag,
  isLiteral,
  isText,
  listOf,
  optional,
  orAbsent,
  patterns,
} from "../fields.ts";
import { shownPattern } from "../shown-pattern.ts";
import { checkGlob, checkPath, type Face, pathMatcher } from "../matching/paths.ts";

declare module "../capability.ts" {
  interface CapabilityTypes {
    "fs.read": FilesCapability<"fs.read">;
    "fs.write": FilesCapability<"fs.write">;
  }
  interface EffectTypes {
    "fs.read": true;
    "fs.write": true;
  }
  interface ToolLists {
    /** Globs of files. */
    readonly paths?: Governed;
  }
  interface ToolSizes {
    /** Bytes per file. */
    readonly fileBytes?: number;
  }
  interface NeedTypes {
    "fs.read": FileNeed<"fs.read">;
    "fs.write": FileNeed<"fs.write">;
  }
}

type FileKind = "fs.read" | "fs.write";
type FileChange = "write" | "remove";

export interface FilesCapability<Kind extends FileKind = FileKind> {
  readonly kind: Kind;
  /** Globs over `/`-separated relative paths: `*` within a segment, `**` over segments. */
  readonly paths: readonly string[];
  /** Globs that are never allowed, also where `paths` matches. */
  readonly except?: readonly string[];
  /** Of `fs.write`. A question says `deletes` of a tool that can only remove. Default: both. */
  readonly operations?: readonly FileChange[];
  /** Bytes per file. */
  readonly fileBytes?: number;
  /** Bytes of all files that one call reads, or writes, under this capability. */
  readonly totalBytes?: number;
}

interface FileNeed<Kind extends FileKind> {
  readonly kind: Kind;
  /** `""` is the root. */
  readonly path: string;
  readonly bytes?: number;
  /** Of `fs.write`: the file goes. */
  readonly removes?: boolean;
}

export const fsRead: Family = /* @__PURE__ */ fileFamily("fs.read");

export const fsWrite: Family = /* @__PURE__ */ fileFamily("fs.write");

function fileFamily(kind: FileKind): Family {
  return defineFamily<FilesCapability, FileNeed<FileKind>>({
    kind,
    title: kind === "fs.read" ? "Reads files" : "Changes files",
    effect: kind === "fs.read" ? "reads" : "changes",
    fields: {
      paths: patterns(checkGlob),
      except: optional(patterns(checkGlob)),
      operations: optional(listOf({ enum: kind === "fs.read" ? [] : ["write", "remove"] }, 2)),
      fileBytes: count,
      totalBytes: count,
    },
    need: { path: isText, bytes: orAbsent(isAmount), removes: orAbsent(isFlag) },
    covers({ paths, except = [], operations }) {
      const isIn = pathMatcher(paths, "grant");
      const isExcepted = pathMatcher(except, "deny");
      const isGiven = (removes: boolean): boolean => operations?.includes(removes ? "remove" : "write") ?? true;
      return ({ path, removes = false }) => isGiven(removes) && isIn(path) && !isExcepted(path);
    },
    describe: ({ paths, except, operations }) =>
      `${list(paths)}${except ? ` except ${list(except)}` : ""}${operations ? `, to ${operations.join(" and ")}` : ""}`,
    target: ({ path }) => path,
    narrowest({ path, bytes, removes }) {
      if (path === "" || path.length > capabilityLimits.patternLength) return undefined;
      const only = removes === true ? { operations: ["remove"] as const } : {};
      return { kind, paths: [path], ...only, ...(bytes !== undefined && { fileBytes: bytes }) };
    },
    isNarrow: ({ paths }) => isLiteral(paths),
    budget: ({ totalBytes }) => ({ bytes: totalBytes }),
    limit: ({ fileBytes }) => fileBytes,
    size: ({ bytes }) => bytes,
    sizeName: "fileBytes",
    conditions: {
      path: {
        check: checkGlob,
        isOwn: (pattern) => !pattern.startsWith("/"),
        touches: (globs) => matchesOf(globs, "deny"),
        list: { name: "paths", covers: (globs) => matchesOf(globs, "grant"), text: ({ path }) => path },
      },
    },
    targetArguments: {
      required: ["path"],
      needs({ path = "" }, { operations }) {
        // A tool can list the root, and not write it.
        const fault = path === "" && kind === "fs.read" ? undefined : checkPath(path);
        return fault
          ? `The path is invalid: ${fault}.`
          : [{ kind, path, ...(operations?.join() === "remove" && { removes: true }) }];
      },
    },
    isLocal: true,
    sample: ({ path = "" }) => ({ kind, path }),
    body: kind === "fs.read" ? "received" : "sent",
  });
}

function matchesOf(globs: readonly string[], face: Face): (need: { readonly path: string }) => boolean {
  const matches = pathMatcher(globs, face);
  return ({ path }) => matches(path);
}

export interface ToolFiles {
  readonly read: (path: string) => Promise<Uint8Array>;
  readonly write: (path: string, data: Uint8Array | string) => Promise<void>;
  readonly list: (path: string) => Promise<FileListing>;
  readonly stat: (path: string) => Promise<FileEntry>;
  readonly remove: (path: string) => Promise<void>;
}

interface FileListing {
  /** Files and folders that the call could `stat`, sorted by name. */
  readonly entries: readonly FileEntry[];
  /** Count of the others: links, and names that no path can have. */
  readonly leftOut: number;
}

export interface FileEntry {
  readonly name: string;
  readonly kind: "file" | "directory";
  /** 0 for a directory. */
  readonly byteLength: number;
}

/** The guest's half. */
export function filesGuest(ask: Ask): ToolFiles {
  const at = (path: string): { path: string } => ({ path: String(path) });
  return {
    async read(path) {
      const { body } = await ask({ kind: "fs.read", operation: "read", arguments: at(path) });
      return body ?? new Uint8Array();
    },
    async write(path, data) {
      await ask({ kind: "fs.write", operation: "write", arguments: at(path), body: bodyBytes(data) });
    },
    list: async (path) => (await ask<FileListing>({ kind: "fs.read", operation: "list", arguments: at(path) })).value,
    stat: async (path) => (await ask<FileEntry>({ kind: "fs.read", operation: "stat", arguments: at(path) })).value,
    async remove(path) {
      await ask({ kind: "fs.write", operation: "remove", arguments: at(path) });
    },
  };
}

function list(globs: readonly string[]): string {
  return globs.map(shownPattern).join(", ");
}

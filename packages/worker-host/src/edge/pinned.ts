import { packageHash, type ToolPackage, type ToolSummary } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { decodeBase64, membersOf } from "@keyhole/kernel/foreign";
import { type CalledTool, calledTool } from "../called-tool.ts";

/** Whether a listed tool is this very package; `undefined` for a value that names no digest. */
function pinOf({ manifest, code, hash }: Parts): ((listed: ToolSummary) => boolean) | undefined {
  if (typeof hash !== "string" || hash === "") return undefined;
  // An edge that hashes in another algorithm has another digest of the same package.
  return (listed) =>
    listed.hash === hash || (algorithmOf(listed.hash) !== algorithmOf(hash) && hashAs(listed, manifest, code));
}

/** The tool that a caller names, or the package that it means; read once. */
export function askedTool(foreign: unknown): {
  readonly tool: CalledTool;
  readonly isPackage: ((listed: ToolSummary) => boolean) | undefined;
} {
  if (typeof foreign === "string") return { tool: calledTool(foreign), isPackage: undefined };
  const parts = partsOf(foreign);
  return { tool: calledTool(parts), isPackage: pinOf(parts) };
}

type Parts = { readonly [Name in "manifest" | "code" | "hash"]?: unknown };

function partsOf(foreign: unknown): Parts {
  try {
    return { ...membersOf(foreign) };
  } catch {
    return {};
  }
}

function hashAs({ hash }: ToolSummary, manifest: unknown, code: unknown): boolean {
  const by = hashOf(hash);
  if (by === undefined || !(typeof code === "string" || code instanceof Uint8Array)) return false;
  try {
    const own = manifest as ToolPackage["manifest"];
    const bytes = own.source === "wasm" && typeof code === "string" ? decodeBase64(code) : code;
    return bytes !== undefined && packageHash(own, bytes, by) === hash;
  } catch {
    return false;
  }
}

const algorithmOf = (digest: string): string => digest.slice(0, digest.indexOf(":"));

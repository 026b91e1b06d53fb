import { packageHash, type ToolPackage, type ToolSummary } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";

/** Whether a listed tool is this very package; `undefined` for a value that names no digest. */
export function pinOf(foreign: unknown): ((listed: ToolSummary) => boolean) | undefined {
  const { manifest, code, hash } = partsOf(foreign);
  if (typeof hash !== "string" || hash === "") return undefined;
  // An edge that hashes in another algorithm has another digest of the same package.
  return (listed) =>
    listed.hash === hash || (algorithmOf(listed.hash) !== algorithmOf(hash) && hashAs(listed, manifest, code));
}

function partsOf(foreign: unknown): { readonly [Name in "manifest" | "code" | "hash"]?: unknown } {
  try {
    return typeof foreign === "object" && foreign !== null ? { ...foreign } : {};
  } catch {
    return {};
  }
}

function hashAs({ hash }: ToolSummary, manifest: unknown, code: unknown): boolean {
  const by = hashOf(hash);
  if (by === undefined || !(typeof code === "string" || code instanceof Uint8Array)) return false;
  try {
    const own = manifest as ToolPackage["manifest"];
    return packageHash(own, own.source === "wasm" && typeof code === "string" ? bytesOf(code) : code, by) === hash;
  } catch {
    return false;
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

const algorithmOf = (digest: string): string => digest.slice(0, digest.indexOf(":"));

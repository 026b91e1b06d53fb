import type { Hash } from "../hash/hash.ts";
import { canonicalize } from "../json/canonical-json.ts";
import type { ToolManifest } from "./manifest.ts";

/**
 * The digest that pins a package: over the canonical JSON of `{ codeHash, manifest }`. The digest
 * of the code stands for the code, so a verifier can check a manifest without the code. `undefined`
 * for a value without a canonical form.
 */
export function packageHash(manifest: ToolManifest, code: string | Uint8Array | null, hash: Hash): string | undefined {
  const codeHash = code === null ? null : codeHashOf(code, hash);
  return codeHash === undefined ? undefined : manifestHash(manifest, codeHash, hash);
}

/** As {@link packageHash}. `null` for an inline tool: it has no code of its own that could be hashed. */
export function manifestHash(manifest: ToolManifest, codeHash: string | null, hash: Hash): string | undefined {
  const text = canonicalize({ codeHash, manifest });
  return text.ok ? hash.text(text.text) : undefined;
}

/** A lone surrogate has no UTF-8: two texts with different ones would have one digest. */
export function codeHashOf(code: string | Uint8Array, hash: Hash): string | undefined {
  if (typeof code !== "string") return hash.bytes(code);
  return code.isWellFormed() ? hash.text(code) : undefined;
}

import { hashText } from "../normalize/hash.ts";
import { canonicalize } from "../normalize/canonical-json.ts";
import type { ToolManifest } from "./manifest.ts";

/**
 * The digest that pins a package: over the canonical JSON of `{ code, manifest }`. An inline tool has no code of its own that could be
 * hashed; its digest is over the manifest alone. `undefined` for a manifest that is not JSON.
 */
export function packageHash(manifest: ToolManifest, code: string | null): string | undefined {
  const text = canonicalize({ code, manifest });
  return text.ok ? hashText(text.text) : undefined;
}

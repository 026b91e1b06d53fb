import * as limits from "../../limits.ts";
import type { ContentStore } from "../../bytes/content-store.ts";
import type { ContentReference } from "../../bytes/content-reference.ts";
import type { KeptOutput } from "../../call/ending/ending.ts";
import type { Decided } from "../../call/steps/decide.ts";

/**
 * Puts an output that its caller would rather have by reference into the content store, before the call's end is on record. Nothing to wait for where there is
 * nothing to put. The tool has run: a store that fails must not take its output away as well.
 */
export function referTo(
  { call, tool }: Pick<Decided, "call" | "tool">,
  byteLength: number,
  normalForm: () => KeptOutput,
  store: ContentStore,
): undefined | Promise<ContentReference | undefined> {
  if (call.options.references !== true || byteLength <= limits.inlineOutputBytes) return undefined;
  const { kind, mediaType } = tool.manifest.output;
  // Its bytes have gone to the caller, and what is in the result stands for them already.
  if (kind === "stream") return undefined;
  const { hash: digest, content } = normalForm();
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return store.put(digest, bytes, call.caller).then(
    () => ({ digest, byteLength, ...(mediaType !== undefined && { mediaType }) }),
    () => {
      call.warn("The content store failed, so the result contains the whole output.");
      return undefined;
    },
  );
}

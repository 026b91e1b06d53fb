import type { AuditLog } from "../../audit/log.ts";
import { openingText } from "../../audit/opening.ts";
import { randomHex } from "../../id/uuid.ts";
import type { ContentStore } from "../../bytes/content-store.ts";
import type { JsonValue } from "../../json/json.ts";
import { compilePointer } from "../../json/pointer.ts";
import type { Policy } from "../../policy/document/make.ts";
import { CallFault } from "../../call/faults/fault.ts";
import type { CallRecord } from "../../call/record/record.ts";
import type { RegisteredTool } from "../../tool/package.ts";

export interface Keeping {
  readonly content: ContentStore;
  readonly log: AuditLog;
}

/**
 * Keeps what the policy says to keep of an input or an output: the log commits to each value under a salt, the value with its salt goes into the content store
 * before. Nothing to wait for where there is nothing to keep. A store that fails is a log that fails: from then on nothing runs.
 *
 * @throws CallFault where a value is too large for the store: then none is kept
 */
export function retainValues(
  { call, tool, policy }: { readonly call: CallRecord; readonly tool: RegisteredTool; readonly policy: Policy },
  of: "input" | "output",
  value: JsonValue | Uint8Array,
  { content, log }: Keeping,
): void | Promise<void> {
  const pointers = policy.governance(tool.manifest.name)?.keep?.[of];
  // Bytes have no places.
  if (!pointers || value instanceof Uint8Array) return;
  const openings = pointers.flatMap((pointer) => {
    const found = compilePointer(pointer)(value);
    return found === undefined ? [] : { path: `/${of}${pointer}`, salt: randomHex(16), value: found };
  });
  if (openings.length === 0) return;
  const kept = openings.map((opening) => {
    const bytes = new TextEncoder().encode(openingText(opening));
    return { path: opening.path, digest: call.hash.bytes(bytes), bytes };
  });
  const { maxBytes: limit = Infinity } = content;
  const tooLarge = kept.find(({ bytes }) => bytes.length > limit);
  if (tooLarge)
    throw new CallFault(
      "BOUNDS_EXCEEDED",
      `${tooLarge.path} of ${tool.id} is a value to keep, and has more than ${limit} bytes.`,
      {
        details: { bound: "keep", limit },
        hint: "Send less, or use another tool.",
        operatorHint: "Keep a smaller part of the value: `keep` of the tool in the policy.",
      },
    );
  return Promise.all(kept.map(({ digest, bytes }) => content.put(digest, bytes))).then(
    () => {
      const commitments = Object.fromEntries(kept.map(({ path, digest }) => [path, digest]));
      log.record("data.kept", call.scope, { commitments });
    },
    (error: unknown) => log.fail(error),
  );
}

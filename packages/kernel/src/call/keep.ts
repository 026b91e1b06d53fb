import type { AuditLog } from "../audit/log.ts";
import { openingText } from "../audit/opening.ts";
import { randomHex } from "../id/uuid.ts";
import type { ContentStore } from "../normalize/content.ts";
import type { JsonValue } from "../normalize/json.ts";
import { compilePointer } from "../policy/arguments.ts";
import { invalidPolicy } from "../policy/invalid.ts";
import type { Policy } from "../policy/load.ts";
import type { Setup } from "../result.ts";
import { type Call, type Stop, stop } from "./call.ts";
import type { RegisteredTool } from "../tool/package.ts";

export interface Keeping {
  readonly content: ContentStore | undefined;
  readonly log: AuditLog;
}

/** A policy that keeps values needs a place for them. */
export function checkKeeping(policy: Setup<Policy>, content: ContentStore | undefined): Setup<Policy> {
  if (!policy.ok || content) return policy;
  const keeping = Object.entries(policy.value.document.tools ?? {}).find(([, { keep }]) => keep !== undefined);
  if (!keeping) return policy;
  return invalidPolicy(`/tools/${keeping[0]}/keep`, "The kernel has no content store.", "Give createKernel `content`.");
}

/**
 * Keeps what the policy says to keep of an input or an output: the log commits to each value under a salt, the value with its salt goes into the content store
 * before. Nothing to wait for where there is nothing to keep. A store that fails is a log that fails: from then on nothing runs.
 *
 * @returns why the call ends here: a value is too large for the store, and then none is kept
 */
export function keep(
  { call, tool, policy }: { readonly call: Call; readonly tool: RegisteredTool; readonly policy: Policy },
  of: "input" | "output",
  value: JsonValue | Uint8Array,
  { content, log }: Keeping,
): Stop | undefined | Promise<undefined> {
  const pointers = policy.governance(tool.manifest.name)?.keep?.[of];
  // The policy was refused where there is no store. Bytes have no places.
  if (!pointers || !content || value instanceof Uint8Array) return undefined;
  const openings = pointers.flatMap((pointer) => {
    const found = compilePointer(pointer)(value);
    return found === undefined ? [] : { path: `/${of}${pointer}`, salt: randomHex(16), value: found };
  });
  if (openings.length === 0) return undefined;
  const kept = openings.map((opening) => {
    const bytes = new TextEncoder().encode(openingText(opening));
    return { path: opening.path, digest: call.hash.bytes(bytes), bytes };
  });
  const { maxBytes: limit = Infinity } = content;
  const tooLarge = kept.find(({ bytes }) => bytes.length > limit);
  if (tooLarge)
    return stop("BOUNDS_EXCEEDED", `${tooLarge.path} of ${tool.id} is to be kept, and has more than ${limit} bytes.`, {
      details: { bound: "keep", limit },
    });
  return Promise.all(kept.map(({ digest, bytes }) => content.put(digest, bytes))).then(
    () => {
      const commitments = Object.fromEntries(kept.map(({ path, digest }) => [path, digest]));
      log.record("data.kept", call.scope, { commitments });
      return undefined;
    },
    (error: unknown) => log.fail(error),
  );
}

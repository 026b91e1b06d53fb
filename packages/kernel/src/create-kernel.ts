import { builtInFamilies } from "./capability/families/index.ts";
import { approvals } from "./extensions/approvals/approvals.ts";
import type { Extension } from "./call/extension.ts";
import { idempotency } from "./extensions/idempotency/idempotency.ts";
import { modeTriggers } from "./extensions/mode-triggers/mode-triggers.ts";
import { nested } from "./call/nested/nested.ts";
import { pureCache } from "./extensions/pure-cache/pure-cache.ts";
import { retention } from "./extensions/retention/retention.ts";
import { retries } from "./extensions/retries/retries.ts";
import { setAside } from "./extensions/set-aside/set-aside.ts";
import { inlineHost } from "./isolate/inline.ts";
import { composeKernel } from "./kernel.ts";
import type { Kernel, KernelOptions } from "./kernel-api.ts";
import { blake3Hash } from "./hash/blake3-hash.ts";
import { operations } from "./operations/operations.ts";
import { checkPolicy } from "./policy/document/load.ts";
import { readKernelOptions } from "./own-options.ts";

/**
 * Opens a kernel with every extension. Its log continues at the end of the sink. It records calls
 * that a crash left open as lost.
 *
 * @throws TypeError when the policy is invalid, or another option: the embedding program is wrong. Check foreign policies with `policy`.
 * @throws the sink's error, if the log cannot be read.
 */
export async function createKernel(foreign: KernelOptions = {}): Promise<Kernel> {
  // The kernel reads each once: extension and kernel have the same part.
  const {
    approver,
    cache,
    content,
    suspender,
    modeTriggers,
    resources,
    hash = blake3Hash,
    families = [],
    ...rest
  } = readKernelOptions(foreign);
  const extensions = extensionsOf({ approver, cache, content, suspender, modeTriggers, resources });
  const known = builtInFamilies.with(families);
  return composeKernel({
    ...rest,
    hash,
    families: known,
    packageHashes: [blake3Hash],
    inline: inlineHost(),
    checkPolicy,
    operations,
    extensions,
  });
}

type OfExtensions = "approver" | "cache" | "content" | "suspender" | "modeTriggers" | "resources";

/** In the order in which their points are asked: an input is kept before anything else is done about it. */
function extensionsOf({
  approver,
  cache = true,
  content,
  suspender,
  modeTriggers: triggers,
  resources,
}: { readonly [Name in OfExtensions]: KernelOptions[Name] | undefined }): readonly Extension[] {
  return [
    ...(content ? [retention(content)] : []),
    ...(cache ? [pureCache()] : []),
    ...(suspender ? [suspender] : []),
    ...(triggers ? [modeTriggers(triggers, resources)] : []),
    idempotency(),
    approvals(approver),
    setAside(),
    retries(),
    nested(),
  ];
}

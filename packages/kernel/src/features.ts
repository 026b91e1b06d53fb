import { approvals, type ApprovalsExtension } from "./extensions/approvals/approvals.ts";
import type { Extension } from "./extensions/extension.ts";
import { idempotency } from "./extensions/idempotency/idempotency.ts";
import { modeTriggers } from "./extensions/mode-triggers/mode-triggers.ts";
import { nested } from "./extensions/nested/nested.ts";
import { type PureCache, pureCache } from "./extensions/pure-cache/pure-cache.ts";
import { retention } from "./extensions/retention/retention.ts";
import { retries } from "./extensions/retries/retries.ts";
import type { CallSuspender } from "./extensions/suspension/call-suspender.ts";
import type { KernelOptions } from "./kernel-api.ts";

/** The extensions of a kernel, and those of them that it has methods of. */
export interface Features {
  /** In the order in which their points are asked. */
  readonly all: readonly Extension[];
  readonly consent: ApprovalsExtension;
  readonly cache: PureCache | undefined;
  readonly suspender: CallSuspender | undefined;
  readonly canKeep: boolean;
}

/** Every extension that the options ask for. */
export function featuresOf({
  approver,
  cache = true,
  content,
  suspender,
  modeTriggers: triggers = [],
}: KernelOptions): Features {
  const consent = approvals(approver);
  const results = cache ? pureCache() : undefined;
  const optional = [
    // What was given is kept before anything else is done about it.
    content && retention(content),
    results,
    suspender,
    triggers.length > 0 ? modeTriggers(triggers) : undefined,
  ].filter((each) => each !== undefined);
  const all = [...optional, idempotency(), consent, retries(), nested()];
  return { all, consent, cache: results, suspender, canKeep: content !== undefined };
}

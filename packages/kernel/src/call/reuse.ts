import type { AuditPayloads } from "../audit/event.ts";
import type { AuditLog } from "../audit/log.ts";
import type { Clock } from "../isolate/clock.ts";
import type { Allowed } from "./approve.ts";
import type { Decided } from "./authorize.ts";
import type { Results } from "./cache.ts";
import { type Call, type Stop, stop } from "./call.ts";
import { type Ending, waitFor } from "./ending.ts";
import type { Claim, Keys } from "./keys.ts";
import type { RegisteredTool } from "../tool/package.ts";

/** What the log says of a key. */
export type Keyed = AuditPayloads["call.keyed"];

/** Whose work answers a call. */
export type Turn =
  /** Its own. Whoever got `end` must call it, on every way out. */
  | { readonly kind: "own"; readonly end?: (ending: Ending) => void; readonly key?: Keyed }
  /** That of another call. */
  | { readonly kind: "given"; readonly by: "cache" | "idempotency-key"; readonly ending: Ending }
  | { readonly kind: "refused"; readonly why: Stop };

const own: Turn = { kind: "own" };

/** Between steps 4 and 5: what was done under a key is not decided again by asking somebody, because it is not done again. */
export async function keyTurn(state: Decided, keys: Keys, log: AuditLog, clock: Clock): Promise<Turn> {
  const { call, tool, inputHash, verdict } = state;
  const key = call.options.idempotencyKey;
  if (key === undefined || (verdict.decision === "deny" && verdict.enforced)) return own;
  for (;;) {
    const claim = keys.claim({ caller: call.caller, key, tool: tool.manifest.name, inputHash });
    switch (claim.kind) {
      case "refused":
        return claim;
      case "ended":
        return { kind: "given", by: "idempotency-key", ending: asKept(claim.ending) };
      case "first": {
        const { keyHash, argsHash } = claim;
        log.record("call.keyed", call.scope, { keyHash, argsHash });
        return { kind: "own", end: endOf(claim, tool), key: { keyHash, argsHash } };
      }
      case "running": {
        const ending = await wait(claim.ending, call, clock);
        if (!ending) return { kind: "refused", why: cancelled };
        // Its caller went away before anything happened: then the work is this one's.
        if (!ending.hasStarted && wasCancelled(ending)) continue;
        return { kind: "given", by: "idempotency-key", ending: ending.hasStarted ? asKept(ending) : ending };
      }
    }
  }
}

/** What has to be told how the first call under a key ended. */
export function endOf(
  { end }: Extract<Claim, { kind: "first" }>,
  { manifest }: RegisteredTool,
): (ending: Ending) => void {
  return (ending) => end(ending, manifest.idempotent === true && isTransient(ending));
}

/** Between steps 5 and 6: who is not allowed gets nothing, and who is needs no slot for what is there already. */
export async function cacheTurn(
  { call }: Allowed,
  keys: readonly [string, ...string[]],
  results: Results,
  clock: Clock,
): Promise<Turn> {
  // Bounds of its own could end the one run that others wait for, or the other run be too slow for them.
  const isShared = call.options.bounds === undefined;
  for (;;) {
    const found = results.find(keys);
    if (found && !("then" in found)) return { kind: "given", by: "cache", ending: found };
    if (!found || !isShared) return { kind: "own", end: results.begin(keys[0], isShared) };
    const ending = await wait(found, call, clock);
    if (!ending) return { kind: "refused", why: cancelled };
    if (wasCancelled(ending)) continue;
    // It was refused as that caller's call; this one is judged for itself.
    if (!ending.hasStarted) return own;
    return { kind: "given", by: "cache", ending };
  }
}

async function wait(other: Promise<Ending>, call: Call, clock: Clock): Promise<Ending | undefined> {
  const startedMs = clock.monotonicMs();
  const ending = await waitFor(other, call.options.signal);
  call.queuedMs += clock.monotonicMs() - startedMs;
  return ending;
}

const cancelled = stop("CANCELLED", "The caller cancelled while an equal call was under way.");

function wasCancelled({ outcome }: Ending): boolean {
  return !outcome.ok && outcome.why.code === "CANCELLED";
}

/** Whether a tool that may run twice can do better than this. */
function isTransient(ending: Ending): boolean {
  return !ending.outcome.ok && (ending.outcome.why.retryable || wasCancelled(ending));
}

/** A failure that stays: trying again under the same key gives the same. */
function asKept(ending: Ending): Ending {
  if (ending.outcome.ok) return ending;
  const hint =
    "So ended the first call under this key, and it is not repeated. Find out what it did; a new key runs it anew.";
  return { ...ending, outcome: { ok: false, why: { ...ending.outcome.why, retryable: false, hint } } };
}

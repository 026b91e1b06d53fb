import { versionedId } from "../../support/tool-names.ts";
import { AuditUnavailable } from "../../audit/unavailable.ts";
import type { SuspendCode, Suspension } from "../arrival/call-options.ts";
import { asFault, CallFault } from "../faults/fault.ts";
import { uuidv7 } from "../../id/uuid.ts";
import { changesWorld } from "../../tool/manifest.ts";
import type { ExtensionContext } from "../extension.ts";
import { takeSnapshot, type Isolates } from "./snapshot.ts";
import { writeSnapshot } from "./snapshot-format.ts";
import type { SuspendableCall } from "./suspension-port.ts";
import { seal, type SealingKey } from "./sealed-snapshot.ts";

const suspendedNow = /* @__PURE__ */ new CallFault(
  "SUSPENDED",
  "The call was suspended. `kernel.resume` continues it.",
  {
    hint: "The process that resumes the call gets its result.",
  },
);

type Obstacle = Extract<Suspension, { ok: false }>;

export function refusal(code: SuspendCode, message: string, hint = ""): Obstacle {
  return { ok: false, error: { code, message, hint } };
}

/**
 * The reason why a call, or a nested call that it waits for, cannot be suspended now.
 *
 * @param givesUp whether requests that only read may be dropped and repeated later
 */
export function obstacleOf(live: SuspendableCall, givesUp: boolean): Obstacle | undefined {
  const { phase, call } = live;
  if (live.hasEnded) return refusal("CALL_NOT_FOUND", `The call ${call.callId} has ended.`);
  if (call.output || call.body)
    return refusal("STREAMS", "The call streams its body or output, and has transferred a part.");
  if (phase.kind === "asking")
    return call.hasStarted
      ? refusal(
          "NOT_WAITING",
          "The resumed call waits for permission to continue.",
          "Try again after the approver's answer.",
        )
      : undefined;
  if (phase.kind === "on-its-way" || !phase.leased)
    return refusal("NOT_WAITING", "The call has no pending request to suspend it at.", "Try again.");
  const { tool, host } = phase.started;
  const { isolate, isShared } = phase.leased.lease;
  if (!isolate.suspend || !host.snapshotKind)
    return refusal(
      "UNSUPPORTED_HOST",
      `The host ${host.name} cannot serialize ${tool.id}.`,
      "The interpreter can: it runs modules in nodeHost(), interpreterHost() and others.",
    );
  if (tool.manifest.output.kind === "stream")
    return refusal("STREAMS", "The output is a stream, and the caller may have received a part.");
  if (isShared())
    return refusal(
      "NOT_WAITING",
      "Another call of the session runs in the same isolate.",
      "Try again when it has ended.",
    );
  if (live.pending.length === 0)
    return refusal("NOT_WAITING", "The tool is running and has no pending request to suspend at.", "Try again.");
  for (const { request, isSent, reply, child } of live.pending) {
    // The kernel can repeat a request that reads.
    if (!isSent || reply || (givesUp && !changesWorld(request.kind))) continue;
    const inside = child && !child.hasEnded ? obstacleOf(child, givesUp) : undefined;
    if (child && !child.hasEnded && !inside) continue;
    const what = `${request.kind} ${request.operation}`.slice(0, 80).toWellFormed();
    return (
      inside ?? refusal("REQUEST_IN_FLIGHT", `Its request ${what} has no answer yet.`, "Try again when it has one.")
    );
  }
  return undefined;
}

/** Suspends paused calls without an {@link obstacleOf}. On a refusal its caller continues them. */
export async function suspendCall(
  root: SuspendableCall,
  key: SealingKey,
  context: ExtensionContext,
): Promise<Suspension> {
  const tree = root.tree;
  const lost = (): Obstacle => {
    // Some have stopped already: the others would wait for them in vain.
    for (const { phase } of tree) if (phase.kind === "running") phase.leased?.putAside();
    for (const live of tree) live.tell(new CallFault("ISOLATE_LOST", "The suspension lost the call's state."));
    return refusal("INTERNAL", "A part of the call ended during the suspension; the call has ended with it.");
  };
  for (const { phase } of tree) {
    if (phase.kind === "asking") phase.leave.abort("suspended");
    else if (phase.kind === "running") phase.requests.withdraw();
  }
  // A call whose approver is no longer asked arrives within this turn of the event loop.
  await new Promise<void>((resolve) => void setTimeout(resolve, 0));
  const asking = tree.filter(({ phase }) => phase.kind === "asking");
  if (asking.some(({ isPut }) => !isPut))
    return tree.length === 1 ? refusal("NOT_WAITING", "The approver answered a moment ago.") : lost();
  const isolates = await isolatesOf(tree);
  if (!isolates)
    return tree.length === 1
      ? refusal("NOT_WAITING", "The isolate is not idle, or serves another call.", "Try again.")
      : lost();
  // Parent calls first: the end of a call ends its nested calls.
  for (const { phase } of tree.toReversed())
    if (phase.kind === "running" && phase.leased?.putAside() !== true) return lost();
  return sealed(root, isolates, key, context);
}

async function isolatesOf(tree: readonly SuspendableCall[]): Promise<Isolates | undefined> {
  const isolates = new Map<SuspendableCall, { readonly isolate: Uint8Array<ArrayBuffer>; readonly hostKind: string }>();
  for (const live of tree) {
    if (live.phase.kind !== "running") continue;
    const { started, leased } = live.phase;
    const hostKind = await started.host.snapshotKind?.();
    const isolate = await leased?.lease.isolate.suspend?.();
    if (hostKind === undefined || isolate === undefined) return undefined;
    isolates.set(live, { isolate, hostKind });
  }
  return isolates;
}

/** The log records the snapshot before the program gets its bytes. */
async function sealed(
  root: SuspendableCall,
  isolates: Isolates,
  key: SealingKey,
  context: ExtensionContext,
): Promise<Suspension> {
  const { log, clock } = context;
  const { tree } = root;
  const snapshotId = uuidv7(clock.now());
  try {
    const frozen = takeSnapshot(root, snapshotId, isolates, context);
    const bytes = await seal(key, writeSnapshot(frozen));
    for (const { call } of tree) log.record("tool.suspended", call.scope, { snapshotId }, call.changesAt("suspension"));
    await log.flush();
    for (const live of tree) live.tell(suspendedNow);
    const { callId, tool, version } = frozen.root;
    return { ok: true, bytes, snapshotId, callId, tool: versionedId({ name: tool, version }) };
  } catch (error) {
    for (const live of tree) live.tell(asFault(error, live.phase.kind === "running"));
    return error instanceof AuditUnavailable
      ? refusal("AUDIT_UNAVAILABLE", error.message)
      : refusal("INTERNAL", "The kernel could not serialize the call, and ended it.");
  }
}

import { AuditUnavailable } from "../audit/log.ts";
import { type Call, next, openCall, type Step, type Stop, stop } from "../call/call.ts";
import { boundsOf } from "../call/execute.ts";
import { endBody, endOutput, failed, spentBy } from "../call/finish.ts";
import { type Fault, readOptions } from "../call/options.ts";
import { Steps } from "../call/steps.ts";
import { hostOf, type IsolateHost } from "../isolate/port.ts";
import type { ResumeOptions } from "../call/call-options.ts";
import type { CallFailure, CallResult } from "../result.ts";
import type { RegisteredTool } from "../tool/package.ts";
import { type Frozen, type FrozenCall, readFrozen } from "./frozen.ts";
import { goOn, heardOf, reserveAgain, restoreCall, type Resumption } from "./go-on.ts";
import type { Thaw } from "./live.ts";
import { withSecrets } from "./revealed.ts";
import { type SealingKey, unseal } from "./sealed.ts";
import { readSince } from "./since.ts";
import { withTaken } from "./taken.ts";

/** What a suspender has that its kernel has not. */
export interface ResumeParts {
  readonly key: () => Promise<SealingKey>;
  readonly claim: (
    snapshotId: string,
  ) => { readonly undo: () => void; readonly confirm: () => Promise<boolean> } | undefined;
  readonly thaws: (call: Call, thaw: Thaw) => void;
}

/** Never rejects for what the bytes are, or what happened meanwhile. Nothing is on record, and the bytes are as good as before, where it is refused before the call goes on. */
export async function resume(
  bytes: Uint8Array,
  foreign: ResumeOptions,
  steps: Steps,
  parts: ResumeParts,
): Promise<CallResult> {
  const { options, output, body, fault = output || body ? noStreams : undefined } = readOptions(foreign);
  if (fault) {
    const { message, hint = "" } = fault;
    const result = refused(steps, stop("INVALID_INPUT", message, { hint }));
    // Whoever answers ends them, as for a call: somebody may be waiting at their other end.
    void endOutput(output, result);
    void endBody(body);
    return result;
  }
  const plain = bytes instanceof Uint8Array ? await unseal(await parts.key(), bytes) : undefined;
  if (!plain)
    return refused(
      steps,
      snapshotRefused("changed", "These are not the bytes of a suspended call, or of another key."),
    );
  const frozen = readFrozen(plain);
  if (!frozen)
    return refused(steps, snapshotRefused("other-version", "Another version of the kernel suspended the call."));
  const unfit = await misfitOf(frozen.root, steps);
  if (unfit) return refused(steps, unfit, frozen);
  const claim = parts.claim(frozen.snapshotId);
  if (!claim) return refused(steps, resumedBefore, frozen);
  const given = heardOf(options);
  try {
    const slot = await slotFor(frozen.root, steps, given);
    if (!slot.ok) {
      claim.undo();
      return refused(steps, slot, frozen);
    }
    return await begin(frozen, steps, { ...parts, ...claim, options: given, release: slot.state });
  } catch (error) {
    if (error instanceof AuditUnavailable)
      return refused(steps, stop("AUDIT_UNAVAILABLE", error.message, { details: { ran: false } }), frozen);
    throw error;
  }
}

const noStreams: Fault = {
  message: "A call whose output or body is a stream is never suspended: none that is resumed takes one.",
};

async function begin(
  frozen: Frozen,
  steps: Steps,
  {
    confirm,
    undo,
    options,
    release,
    thaws,
  }: ResumeParts & {
    readonly confirm: () => Promise<boolean>;
    readonly undo: () => void;
    readonly options: ResumeOptions;
    readonly release: (() => void) | undefined;
  },
): Promise<CallResult> {
  const { parts } = steps;
  let hasBegun = false;
  try {
    const since = await readSince(parts.log, frozen);
    if (since.wasResumed) return refused(steps, resumedBefore, frozen);
    const all = callsIn(frozen.root);
    const taken = all.flatMap(({ state }) => (state.kind === "running" ? state.revocations : []));
    const secrets = parts.secrets && (await withSecrets(parts.secrets, all));
    // Last, when nothing can fail any more: what others have noted cannot be undone.
    if (!(await confirm())) return refused(steps, resumedBefore, frozen);
    const own = new Steps({
      ...parts,
      revocations: withTaken(parts.revocations, [...taken, ...since.revocations]),
      secrets,
    });
    parts.policyState.labels.add(frozen.root.sessionId, frozen.labels);
    const resumption: Resumption = { steps: own, thaws, snapshotId: frozen.snapshotId, since };
    const call = restoreCall(frozen.root, own, options, undefined, frozen.tree);
    hasBegun = true;
    return await goOn(call, frozen.root, resumption, release);
  } finally {
    if (!hasBegun) {
      release?.();
      undo();
    }
  }
}

/** Of the outermost call, where it runs. */
async function slotFor(
  { callId, state, caller, tool: name, version, options }: FrozenCall,
  { parts }: Steps,
  { signal }: ResumeOptions,
): Promise<Step<(() => void) | undefined>> {
  const found = parts.registry.resolve(name, version);
  if (state.kind === "asking" || !found.ok) return next(undefined);
  const { tool } = found;
  const bounds = boundsOf(tool, parts.authority().policy, options);
  return reserveAgain(parts.limiter, { toolId: tool.id, caller, outermostId: callId, bounds, signal });
}

function callsIn(call: FrozenCall): readonly FrozenCall[] {
  const { state } = call;
  const within = state.kind === "running" ? state.requests : [];
  return [call, ...within.flatMap((request) => (request.kind === "call" ? callsIn(request.call) : []))];
}

/** Why this kernel cannot go on with a call, or with one that it waits for. */
async function misfitOf(root: FrozenCall, { parts }: Steps): Promise<Stop | undefined> {
  for (const { tool: name, version, toolHash, state } of callsIn(root)) {
    const found = parts.registry.resolve(name, version);
    if (!found.ok || found.tool.hash !== toolHash)
      return snapshotRefused("other-tool", `${name}@${version} with the hash ${toolHash} is not registered here.`);
    const unfit =
      state.kind === "running" ? await unfitHost(found.tool, hostOf(found.tool, parts.hosts), state) : undefined;
    if (unfit) return unfit;
  }
  return undefined;
}

async function unfitHost(
  tool: RegisteredTool,
  host: IsolateHost | undefined,
  { hostKind }: Extract<FrozenCall["state"], { kind: "running" }>,
): Promise<Stop | undefined> {
  if (!host?.thaw)
    return stop("UNSUPPORTED_HOST", `No host of this kernel goes on with suspended calls of ${tool.id}.`);
  if ((await host.snapshotKind?.()) === hostKind) return undefined;
  return snapshotRefused("other-host", `The host ${host.name} is not of the kind that suspended the call.`);
}

function snapshotRefused(reason: string, message: string): Stop {
  return stop("SNAPSHOT_REFUSED", message, { details: { reason } });
}

const resumedBefore = snapshotRefused("resumed-before", "The snapshot was resumed before; the call goes on there.");

function refused({ parts: { clock, hash } }: Steps, why: Stop, frozen?: Frozen): CallFailure {
  const none = openCall("", {}, clock, hash);
  const { callId = none.callId, tool = "", version = "" } = frozen?.root ?? {};
  return failed({ ...none, callId }, why, frozen ? `${tool}@${version}` : "", undefined, spentBy(undefined), clock);
}

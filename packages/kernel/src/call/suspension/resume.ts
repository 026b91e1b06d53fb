import { versionedId } from "../../support/tool-names.ts";
import { AuditUnavailable } from "../../audit/unavailable.ts";
import type { ResumeOptions } from "../arrival/call-options.ts";
import { asFault, CallFault } from "../faults/fault.ts";
import { readOptions } from "../arrival/read-options.ts";
import type { Since } from "../arrival/entry.ts";
import type { CallRecord } from "../record/record.ts";
import { boundsOf } from "../steps/reserve.ts";
import type { IsolateHost } from "../../isolate/port.ts";
import { hostOf } from "../../isolate/port.ts";
import { bytesOf } from "../../support/foreign.ts";
import type { CallResult, Hints } from "../../result.ts";
import type { StateChange } from "../../state/change.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import type { ExtensionContext } from "../extension.ts";
import { type Snapshot, type SnapshotCall, type SnapshotRun, readSnapshot } from "./snapshot-format.ts";
import { resumeRun, listenersOf, restoreCall, type Resumption } from "./resume-call.ts";
import type { Restored } from "./suspension-port.ts";
import { type SealingKey, unseal } from "./sealed-snapshot.ts";
import { readChangesSinceSnapshot } from "./changes-since-snapshot.ts";

/** The right of this kernel to resume a snapshot. */
export interface SnapshotClaim {
  readonly undo: () => void;
  readonly confirm: () => Promise<boolean>;
  /** Whether the shared `claim` is asked beside this process and its log. */
  readonly isShared: boolean;
  /** The changes for the event that resumes the call. */
  readonly changes: () => readonly StateChange[];
}

/** The parts that the suspender adds to its kernel. */
export interface ResumeParts {
  readonly key: () => Promise<SealingKey>;
  readonly claim: (snapshotId: string) => SnapshotClaim | undefined;
  readonly thaws: (call: CallRecord, thaw: Restored) => void;
}

/**
 * Never rejects for the content of the bytes, or for changes in the meantime. A refusal before the
 * call continues leaves no record, and the bytes stay valid.
 */
export async function resume(
  bytes: unknown,
  foreign: unknown,
  context: ExtensionContext,
  parts: ResumeParts,
): Promise<CallResult> {
  const read = readOptions(foreign, context.families, resumeOptionNames);
  const { options, output, body, fault } = read;
  if (fault || output || body) {
    // The caller's streams end with the refusal: a reader may wait at their other end.
    return context.refuse(
      context.openRead(read),
      new CallFault("INVALID_INPUT", { hint: "Correct the options.", ...(fault ?? noStreams) }),
    );
  }
  const sealed = bytesOf(bytes);
  const plain = sealed && (await unseal(await parts.key(), sealed));
  const frozen = plain && readSnapshot(plain);
  if (frozen) return resumeFrozen(frozen, listenersOf(options), context, parts);
  const why = plain
    ? snapshotRefused("other-version", "Another version of the kernel suspended the call.")
    : snapshotRefused("changed", "These are not the bytes of a suspended call, or of another key.");
  return context.refuse(context.openCall("", {}), why);
}

/** A stream must run to its end. */
const resumeOptionNames = Object.keys({
  signal: true,
  approver: true,
  nestedApprover: true,
  onEvent: true,
  onLog: true,
  onProgress: true,
  output: true,
  body: true,
} satisfies Record<keyof ResumeOptions | "output" | "body", true>);

const noStreams = {
  message: "A resumed call takes neither `output` nor `body`: the kernel suspends no call that streams.",
  hint: "Leave the streams out.",
};

async function resumeFrozen(
  frozen: Snapshot,
  options: ResumeOptions,
  context: ExtensionContext,
  parts: ResumeParts,
): Promise<CallResult> {
  const { snapshotId, root, labels, tree } = frozen;
  // Filled in before the call continues: it takes its slot first, and that can take a while.
  const since: Since = {
    revocations: [],
    revokedApprovals: new Set(),
    unregistered: new Set(),
  };
  const call = restoreCall(root, { context, since }, options, undefined, tree);
  const unfit = await misfitOf(root, context);
  if (unfit) return context.refuse(call, unfit);
  const claim = parts.claim(snapshotId);
  if (!claim) return context.refuse(call, resumedBefore);
  try {
    // Before the snapshot is used up: a full tool refuses, and the snapshot is as good as before.
    if (root.run) await takeSlot(call, root, context);
    Object.assign(since, await sinceOf(frozen, context, claim));
    // Last, after every step that can fail: no step can undo the notes of others.
    if (!(await claim.confirm())) throw resumedBefore;
  } catch (thrown) {
    claim.undo();
    const refused = await context.refuse(call, asFault(thrown, false));
    if (thrown instanceof CallFault || thrown instanceof AuditUnavailable) return refused;
    throw thrown;
  }
  const resumption: Resumption = { context, snapshotId, since, labels, changes: claim.changes(), thaws: parts.thaws };
  return resumeRun(call, root, resumption, true);
}

async function takeSlot(
  call: CallRecord,
  { tool: name, version }: SnapshotCall,
  context: ExtensionContext,
): Promise<void> {
  const found = context.registry.find(name, version);
  if (!found) return;
  const bounds = boundsOf(found, context.authority().policy, call.options);
  await context.takeSlotAgain(call, found, bounds);
}

/** The changes for the calls of a snapshot during the suspension. */
async function sinceOf(frozen: Snapshot, { log }: ExtensionContext, { isShared }: SnapshotClaim): Promise<Since> {
  const { isThere, wasResumed, revocations, revokedApprovals, unregistered } = await readChangesSinceSnapshot(
    log,
    frozen,
  );
  if (wasResumed) throw resumedBefore;
  // A log that does not know of the snapshot cannot know that it went on.
  if (!isThere && !isShared)
    throw snapshotRefused("other-log", "The log of this kernel does not have the event of the snapshot.");
  const all = callsIn(frozen.root);
  const taken = all.flatMap(({ run }) => run?.revocations ?? []);
  return {
    revocations: [...taken, ...revocations],
    revokedApprovals,
    unregistered,
  };
}

function callsIn(call: SnapshotCall): readonly SnapshotCall[] {
  const within = call.run?.requests ?? [];
  return [call, ...within.flatMap((request) => (request.kind === "call" ? callsIn(request.call) : []))];
}

/** The reason why this kernel cannot resume a call, or a nested call that it waits for. */
async function misfitOf(root: SnapshotCall, { registry, hosts }: ExtensionContext): Promise<CallFault | undefined> {
  for (const { tool: name, version, toolHash, run } of callsIn(root)) {
    const found = registry.find(name, version);
    if (found?.hash !== toolHash)
      return snapshotRefused(
        "other-tool",
        `This kernel has no ${versionedId({ name, version })} with the hash ${toolHash}.`,
      );
    const unfit = run && (await unfitHost(found, hostOf(found, hosts), run));
    if (unfit) return unfit;
  }
  return undefined;
}

async function unfitHost(
  tool: RegisteredTool,
  host: IsolateHost | undefined,
  { hostKind }: SnapshotRun,
): Promise<CallFault | undefined> {
  if (!host?.thaw) return new CallFault("UNSUPPORTED_HOST", `No host of this kernel resumes calls of ${tool.id}.`);
  if ((await host.snapshotKind?.()) === hostKind) return undefined;
  return snapshotRefused("other-host", `The host ${host.name} is not of the kind that suspended the call.`);
}

type SnapshotReason =
  /** The bytes were changed or cut, are no snapshot, or need another key. */
  | "changed"
  /** Another version of the kernel made the snapshot. */
  | "other-version"
  /** A needed tool has another name, version or hash. */
  | "other-tool"
  /** The host is of another kind, or has another version of the interpreter. */
  | "other-host"
  /** The log lacks the event of the snapshot, and there is no `claim`. */
  | "other-log"
  /** The process, the log or `claim` knows an earlier resume. */
  | "resumed-before";

function snapshotRefused(reason: SnapshotReason, message: string): CallFault {
  return new CallFault("SNAPSHOT_REFUSED", message, { details: { reason }, ...fitting[reason] });
}

const later = "Tell the user that the call can continue later.";
/** The hints of each reason to refuse a snapshot. */
const fitting = {
  changed: { operatorHint: "Give all kernels that resume each other's calls the same key." },
  "other-version": { hint: later, operatorHint: "Resume it with the version of the kernel that suspended it." },
  "other-tool": { hint: later, operatorHint: "Register the tool with this version and hash, then resume it." },
  "other-host": { hint: later, operatorHint: "Resume it in a kernel with the host that suspended it." },
  "other-log": {
    hint: later,
    operatorHint:
      "Resume it in a kernel on the log of its suspension, or give callSuspender a `claim` that all kernels share.",
  },
  "resumed-before": { hint: "Wait for the result in the kernel that resumed the call." },
} as const satisfies Record<SnapshotReason, Partial<Hints>>;

const resumedBefore = /* @__PURE__ */ snapshotRefused(
  "resumed-before",
  "A kernel resumed the snapshot before, and the call continues there.",
);

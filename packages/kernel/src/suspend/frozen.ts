import type { GateCounts } from "../capability/counts.ts";
import type { Capability, CapabilityKind } from "../capability/capability.ts";
import type { Revocation } from "../capability/revocation.ts";
import type { Keyed } from "../call/reuse.ts";
import type { IsolateUsage } from "../isolate/port.ts";
import type { CallOptions } from "../call/call-options.ts";
import { engineVersion } from "../policy/seal.ts";
import type { Proof } from "../policy/proof.ts";
import type { Mode } from "../tool/manifest.ts";
import { joinBytes } from "../normalize/join-bytes.ts";

/**
 * Which kernels read each other's snapshots: the engine of the policy, and the form of {@link Frozen}, which is counted up with every change of it or of what a
 * kernel makes of it.
 */
export const kernelVersion: string = `${engineVersion} suspend/2`;

/** What a snapshot holds: everything of a call that its kernel knew, and of the calls that it waits for. */
export interface Frozen {
  readonly version: string;
  /** Random: by it a second use is known. */
  readonly snapshotId: string;
  /** Where the log went on when it was made. Another log has another digest there. */
  readonly log: { readonly seq: number; readonly prev: string };
  readonly root: FrozenCall;
  /** Of its session: what its tools know by now is under them wherever they go on. */
  readonly labels: readonly string[];
  /** Of the whole tree. */
  readonly tree: { readonly callsLeft: number; readonly messagesLeft: number };
}

export interface FrozenCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly caller: string;
  readonly traceparent: string;
  readonly correlationId: string | null;
  readonly tool: string;
  readonly version: string;
  readonly toolHash: string;
  readonly options: Pick<CallOptions, "bounds" | "cache" | "grants" | "idempotencyKey" | "references" | "waitMs">;
  readonly seed: string;
  readonly nowMs: number;
  /** Since its arrival, without the time that it was suspended. */
  readonly elapsedMs: number;
  readonly queuedMs: number;
  readonly warnings: readonly string[];
  readonly inputText: string;
  /** Of the answer by which an approver edited its arguments. */
  readonly editedBy: Proof | null;
  readonly edits: number;
  readonly key: Keyed | null;
  readonly state: FrozenQuestion | FrozenRun;
}

/** It waits for an answer, and nothing of it has run. */
export interface FrozenQuestion {
  readonly kind: "asking";
  readonly approvalId: string;
  readonly argsHash: string;
  readonly grantHash: string;
  readonly policyHash: string;
  readonly mode: Mode;
}

/** It runs in an isolate. */
export interface FrozenRun {
  readonly kind: "running";
  readonly isolate: Uint8Array<ArrayBuffer>;
  /** As `snapshotKind` of its host said. */
  readonly hostKind: string;
  readonly proof: Proof;
  readonly policyHash: string;
  readonly mode: Mode;
  /** Of its grant. */
  readonly layers: readonly (readonly Capability[])[];
  /** What its isolate sees of the real world without asking. */
  readonly real: readonly CapabilityKind[];
  readonly counts: GateCounts;
  readonly revocations: readonly Revocation[];
  readonly leftMs: number;
  readonly pauseLeftMs: number;
  readonly attempt: number;
  readonly used: readonly IsolateUsage[];
  /** In the order in which they were made. */
  readonly requests: readonly FrozenRequest[];
}

/** A request that the tool waits for. */
export type FrozenRequest = {
  /** Of its entry in the journal, where it has one. */
  readonly index: number | null;
} & (
  | { readonly kind: "open" }
  /** Its answer was there, and not yet handed over. */
  | {
      readonly kind: "answered";
      /** As JSON, without its body: what a broker says may look like anything. */
      readonly replyText: string;
      readonly body: Uint8Array | null;
    }
  | { readonly kind: "call"; readonly call: FrozenCall }
);

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LENGTH_BYTES = 4;
/** Stands for bytes that are behind the text; nothing else of ours has such a member. */
const mark = "\u0000part";

/** Length of the text, text as JSON, and behind it the bytes that are gaps in it. */
export function writeFrozen(frozen: Frozen): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const text = encoder.encode(
    JSON.stringify(frozen, (_, value: unknown) =>
      value instanceof Uint8Array ? { [mark]: parts.push(value), length: value.length } : value,
    ),
  );
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, text.length, true);
  return joinBytes([length, text, ...parts]);
}

/**
 * Reads what {@link writeFrozen} wrote. Only of bytes that are known to come from there.
 *
 * @returns `undefined` when a kernel of another version wrote them
 */
export function readFrozen(bytes: Uint8Array<ArrayBuffer>, version: string = kernelVersion): Frozen | undefined {
  let at = LENGTH_BYTES + new DataView(bytes.buffer).getUint32(0, true);
  const text = decoder.decode(bytes.subarray(LENGTH_BYTES, at));
  // Gaps come in the order of the text, which is the order of their bytes: `JSON.parse` visits them in it.
  const frozen: unknown = JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, mark)) return value;
    const { length } = value as { readonly length: number };
    return bytes.slice(at, (at += length));
  });
  return isOfVersion(frozen, version) ? frozen : undefined;
}

/** The same version writes the same shape. */
function isOfVersion(frozen: unknown, version: string): frozen is Frozen {
  return typeof frozen === "object" && frozen !== null && "version" in frozen && frozen.version === version;
}

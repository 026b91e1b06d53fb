import type { Revocation } from "../../capability/revocation.ts";
import type { CarriedPart } from "../record/carried-part.ts";
import type { CallIdentity } from "../arrival/entry.ts";
import type { CallOptions } from "../arrival/call-options.ts";
import { engineVersion } from "../../policy/proof/seal-proof.ts";
import { joinBytes } from "../../bytes/join-bytes.ts";
import { randomHex } from "../../id/uuid.ts";
import { hasOwn } from "../../support/guards.ts";

/**
 * Kernels with the same text read each other's snapshots. It names the policy engine and the form
 * of {@link Snapshot}. Raise the number with every change of the form or of its meaning.
 */
export const kernelVersion: string = `${engineVersion} suspend/6`;

/**
 * The content of a snapshot: all that the kernel knew of a call, and of the nested calls that it
 * waits for.
 */
export interface Snapshot {
  readonly version: string;
  /** Random: it shows a second use. */
  readonly snapshotId: string;
  /** Where the log went on when it was made. Another log has another digest there. */
  readonly log: { readonly seq: number; readonly prev: string };
  readonly root: SnapshotCall;
  /** The labels of its session, which cover the data that its tools know. */
  readonly labels: readonly string[];
  /** Of the whole tree. */
  readonly tree: { readonly callsLeft: number; readonly messagesLeft: number };
}

export interface SnapshotCall extends CallIdentity {
  readonly tool: string;
  readonly version: string;
  readonly toolHash: string;
  readonly options: Pick<
    CallOptions,
    "bounds" | "cache" | "grants" | "idempotencyKey" | "raw" | "references" | "waitMs"
  >;
  /** Since its arrival, without the time that it was suspended. */
  readonly elapsedMs: number;
  readonly queuedMs: number;
  readonly warnings: readonly string[];
  readonly edits: number;
  /** As its parent bounded it; `null` for a call without a bound. */
  readonly fuelLeft: number | null;
  /** Of the calls within it together; `null` where no caller bounds the fuel. */
  readonly nestedFuelLeft: number | null;
  /** As each step and extension gave its own. */
  readonly parts: Readonly<Record<string, unknown>>;
  /** `null` where it waits for an answer, and nothing of it has run. */
  readonly run: SnapshotRun | null;
}

/** A run in an isolate. */
export interface SnapshotRun {
  readonly isolate: Uint8Array<ArrayBuffer>;
  /** As `snapshotKind` of its host said. */
  readonly hostKind: string;
  readonly revocations: readonly Revocation[];
  /** In the order of the requests. */
  readonly requests: readonly SnapshotRequest[];
}

/** The same version wrote it. */
export function partOf<T>(parts: SnapshotCall["parts"], { name }: CarriedPart<T>): T | undefined {
  return parts[name] as T | undefined;
}

/** A request that the tool waits for. */
export type SnapshotRequest = {
  /** Of its entry in the journal, where it has one. */
  readonly index: number | null;
} & (
  | { readonly kind: "open" }
  /** Its answer had arrived, and the tool had not received it. */
  | {
      readonly kind: "answered";
      /** As JSON, without its body: the value of a broker can have any form. */
      readonly replyText: string;
      readonly body: Uint8Array | null;
    }
  | { readonly kind: "call"; readonly call: SnapshotCall }
);

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LENGTH_BYTES = 4;
/** Hexadecimal digits. */
const MARK_LENGTH = 32;

/**
 * Length of the text, the mark, text as JSON, and behind it the bytes that are gaps in it. The mark is the member that stands for bytes. It is random, because a caller and an approver
 * choose members of what is in the text: none of theirs is one.
 */
export function writeSnapshot(frozen: Snapshot): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const mark = randomHex(MARK_LENGTH / 2);
  const text = encoder.encode(
    JSON.stringify(frozen, (_, value: unknown) =>
      value instanceof Uint8Array ? { [mark]: parts.push(value), length: value.length } : value,
    ),
  );
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, text.length, true);
  return joinBytes([length, encoder.encode(mark), text, ...parts]);
}

/**
 * Reads what {@link writeSnapshot} wrote. Only of bytes that surely come from there.
 *
 * @returns `undefined` when a kernel of another version wrote them
 */
export function readSnapshot(bytes: Uint8Array<ArrayBuffer>, version: string = kernelVersion): Snapshot | undefined {
  const start = LENGTH_BYTES + MARK_LENGTH;
  const mark = decoder.decode(bytes.subarray(LENGTH_BYTES, start));
  let at = start + new DataView(bytes.buffer).getUint32(0, true);
  const text = decoder.decode(bytes.subarray(start, at));
  // Gaps come in the order of the text, which is the order of their bytes: `JSON.parse` visits them in it.
  const frozen: unknown = JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, mark)) return value;
    const { length } = value as { readonly length: number };
    return bytes.slice(at, (at += length));
  });
  return isOfVersion(frozen, version) ? frozen : undefined;
}

/** The same version writes the same shape. */
function isOfVersion(frozen: unknown, version: string): frozen is Snapshot {
  return typeof frozen === "object" && frozen !== null && hasOwn(frozen, "version") && frozen.version === version;
}

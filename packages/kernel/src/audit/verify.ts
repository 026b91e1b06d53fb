import { type VerifyOptions, verifyOptions } from "./verify-options.ts";
import { isSafeInteger } from "../support/guards.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import { type Digest, type DigestAlgorithm, type Hash, isDigest } from "../hash/hash.ts";
import { isJsonObject, type JsonObject, type JsonValue, isJsonArray } from "../json/json.ts";
import { knownOptions } from "../json/known-options.ts";
import { type CheckpointCheck, type CheckpointState, verifyCheckpoint } from "./checkpoint.ts";
import { bytesOf, printDigest } from "./digest-bytes.ts";
import type { AuditType } from "./event.ts";
import { EvidenceExcess, EvidenceFault, readItem } from "./evidence-item.ts";
import { LineFault, Lines } from "./lines.ts";
import { type MerkleFrontier, merkleFrontier, treeHashOf } from "./merkle.ts";
import { commitmentOf, readOpening } from "./opening.ts";
import type { VouchedByKey, VouchedByNobody } from "./vouched.ts";

/** The input of `verifyAudit`: lines of a log file, or events. Trust neither. */
export type AuditSource = Iterable<unknown> | AsyncIterable<unknown>;

/** The facts of an intact log. */
export interface AuditFacts {
  readonly events: number;
  /** Of the first event; 0 for a log from its beginning. */
  readonly firstSeq: number;
  readonly lastHash: string;
  readonly algorithm: DigestAlgorithm;
  /** Root of the Merkle tree over the events, where the log was read from its beginning. */
  readonly root: string | null;
  /** Values that the events commit to: disclosed ones that match, and absent ones. */
  readonly opened: number;
  readonly closed: number;
  /** Events of which only the place in the chain is there. */
  readonly withheld: number;
  /** Events, from the first, that a checkpoint of a trusted key covers. */
  readonly vouchedEvents: number;
}

export type AuditCheck =
  /** The chain is whole, and a checkpoint of a trusted key covers all of it. */
  | ({
      readonly verdict: "verified";
      readonly vouchedBy: VouchedByKey;
      /** The checkpoint that covers the end. Later events are unknown. */
      readonly checkpoint: CheckpointState;
    } & AuditFacts)
  /** The chain is intact. A party that can write a file can write such a log. */
  | ({ readonly verdict: "unvouched"; readonly vouchedBy: VouchedByNobody } & AuditFacts)
  /** A log without an event, or with one that is beyond the bounds of this reader. */
  | { readonly verdict: "inconclusive"; readonly events: number; readonly reason: string }
  | {
      readonly verdict: "broken";
      /** Items that were whole before the fault. */
      readonly events: number;
      /** The number that the event at the place of the fault should have; `null` where nothing says so. */
      readonly seq: number | null;
      readonly reason: string;
    };

const types: ReadonlySet<string> = new Set(
  Object.keys({
    "approval.requested": true,
    "approval.resolved": true,
    "call.invoked": true,
    "body.read": true,
    "call.keyed": true,
    "capability.checked": true,
    "call.queued": true,
    "capability.used": true,
    "grant.restored": true,
    "grant.revoked": true,
    "data.kept": true,
    "health.answered": true,
    "health.asked": true,
    "log.recovered": true,
    "mode.changed": true,
    "policy.changed": true,
    "purity.answered": true,
    "purity.asked": true,
    "policy.decided": true,
    "result.reused": true,
    "tool.blocked": true,
    "tool.completed": true,
    "tool.failed": true,
    "tool.lost": true,
    "tool.quarantined": true,
    "tool.registered": true,
    "tool.resumed": true,
    "tool.retried": true,
    "tool.started": true,
    "tool.suspended": true,
    "tool.unregistered": true,
  } satisfies Record<AuditType, true>),
);

/** A withheld event has `v`, `seq`, `prev` and `withheld`, beside the digest. */
const PLACE_MEMBERS = 4;

/**
 * Whether a log is what a kernel wrote, and who vouches for it: every event unchanged, none missing, moved, doubled or from elsewhere. Reads once. Nothing foreign
 * makes it throw; an unknown option does.
 *
 * @example
 * const check = await verifyAudit(lines(file.stream()), { checkpoints: [checkpoint], trusted });
 * if (check.verdict !== "verified") console.error(verdictLine(check));
 */
export async function verifyAudit(source: AuditSource, given: VerifyOptions = {}): Promise<AuditCheck> {
  const own = knownOptions(given, verifyOptions, "verifyAudit");
  const checkpoints: Held[] = [];
  for (const foreign of own.checkpoints ?? []) {
    const check = await verifyCheckpoint(foreign, own.trusted);
    if (check.verdict === "broken") return { verdict: "broken", events: 0, seq: null, reason: check.reason };
    checkpoints.push(check);
  }
  const chain = new Chain(own, checkpoints);
  try {
    if (source instanceof Lines) {
      for await (const batch of source.batches()) for (const line of batch) chain.add(line);
    } else for await (const item of source) chain.add(item);
    return chain.end();
  } catch (error) {
    if (error instanceof EvidenceFault) return chain.fault(error.message);
    if (error instanceof EvidenceExcess) return chain.stop(error.message);
    if (error instanceof LineFault)
      return chain[error.isTooLong ? "stop" : "fault"](`Line ${error.line} cannot be read: ${error.message}.`);
    return chain.fault("The verifier could not read the log to its end.");
  }
}

type Held = Exclude<CheckpointCheck, { readonly verdict: "broken" }>;

class Chain {
  #events = 0;
  #firstSeq: number | null = null;
  /** Of the next event. */
  #seq: number | null;
  #prev: string | null = null;
  /** Of the first event; a log has one. */
  #hash: Hash | undefined;
  #tree: MerkleFrontier = merkleFrontier();
  /** Smallest first; those that the log has passed are taken out, the last of them into `#passed`. */
  readonly #checkpoints: Held[];
  #passed: Held | undefined;
  readonly #takesWithheld: boolean;
  #opened = 0;
  #closed = 0;
  #withheld = 0;
  readonly #algorithm: DigestAlgorithm | undefined;

  constructor({ withheld = false, part = false, algorithm }: VerifyOptions, checkpoints: readonly Held[]) {
    this.#seq = part ? null : 0;
    this.#algorithm = algorithm;
    this.#checkpoints = checkpoints.toSorted((a, b) => a.checkpoint.size - b.checkpoint.size);
    this.#takesWithheld = withheld;
  }

  add(item: unknown): void {
    const { by, actualHash, hash, event, openings } = readItem(item);
    const { v, seq, type, prev } = event;
    const isWithheld = event["withheld"] === true;
    if (isWithheld && !this.#takesWithheld) throw new EvidenceFault(`Event ${show(seq)} is withheld.`);
    if (v !== 1) throw new EvidenceFault(`The event has version ${show(v)} of the format. Expected version 1.`);
    if (!isWithheld && (typeof type !== "string" || !types.has(type)))
      throw new EvidenceFault(`The format has no events of type ${show(type)}.`);
    if (!isSafeInteger(seq) || seq < 0) throw new EvidenceFault(`${show(seq)} is not a sequence number.`);
    if (this.#seq !== null && seq !== this.#seq)
      throw new EvidenceFault(`Event ${this.#seq} is missing: event ${show(seq)} came instead.`);
    if (!by || !isDigest(hash)) throw new EvidenceFault(`The digest of event ${show(seq)} is in no known algorithm.`);
    this.#follow(seq, by);
    this.#compare();
    const expected = seq === 0 ? by.zero : this.#prev;
    if (expected !== null && prev !== expected)
      throw new EvidenceFault(`Event ${show(seq)} does not follow the one before.`);
    if (!isWithheld && actualHash !== hash) throw new EvidenceFault(`Event ${show(seq)} was changed.`);
    if (isWithheld && (openings !== undefined || Object.keys(event).length > PLACE_MEMBERS))
      throw new EvidenceFault(`Event ${show(seq)} is withheld, but has a payload.`);
    if (isWithheld) this.#withheld++;
    else this.#open(event, openings);
    this.#firstSeq ??= seq;
    this.#seq = seq + 1;
    this.#prev = hash;
    this.#events++;
    if (this.#firstSeq === 0) this.#tree.append(bytesOf(hash));
  }

  /** The algorithm of an event is that of all. */
  #follow(seq: unknown, by: Hash): void {
    const expected = this.#hash?.algorithm ?? this.#algorithm ?? by.algorithm;
    if (by.algorithm !== expected)
      throw new EvidenceFault(
        `The digest of event ${show(seq)} is in another algorithm: ${by.algorithm}, not ${expected}.`,
      );
    if (!this.#hash) this.#tree = merkleFrontier(treeHashOf(by));
    this.#hash = by;
  }

  #open(event: JsonObject, openings: JsonValue | undefined): void {
    const counts = countOpened(event, openings, this.#hash ?? blake3Hash);
    this.#opened += counts.opened;
    this.#closed += counts.closed;
  }

  /** Before the next event, and at the end: a checkpoint can also be of a log without events. */
  #compare(): void {
    const [next] = this.#checkpoints;
    if (!next || next.checkpoint.size > this.#events) return;
    const { size, root, time } = next.checkpoint;
    if (this.#firstSeq !== 0 && this.#events > 0)
      throw new EvidenceFault("A checkpoint needs the log from its beginning.");
    if (this.#root() !== root)
      throw new EvidenceFault(`The first ${size} events are not those of the checkpoint of ${time}.`);
    this.#passed = this.#checkpoints.shift();
    this.#compare();
  }

  end(): AuditCheck {
    this.#compare();
    const [next] = this.#checkpoints;
    if (next)
      return this.fault(
        `The log was cut: the checkpoint of ${next.checkpoint.time} covers ${next.checkpoint.size} events.`,
      );
    if (this.#firstSeq === null || this.#prev === null || !this.#hash)
      return { verdict: "inconclusive", events: 0, reason: NO_EVENT };
    const passed = this.#passed;
    const facts: AuditFacts = {
      events: this.#events,
      firstSeq: this.#firstSeq,
      lastHash: this.#prev,
      algorithm: this.#hash.algorithm,
      root: this.#firstSeq === 0 ? this.#root() : null,
      opened: this.#opened,
      closed: this.#closed,
      withheld: this.#withheld,
      vouchedEvents: passed?.verdict === "verified" ? passed.checkpoint.size : 0,
    };
    if (!passed) return { verdict: "unvouched", vouchedBy: { kind: "nobody", reason: NO_CHECKPOINT }, ...facts };
    if (passed.verdict === "unvouched") return { verdict: "unvouched", vouchedBy: passed.vouchedBy, ...facts };
    const { vouchedBy, checkpoint } = passed;
    if (checkpoint.size === this.#events) return { verdict: "verified", vouchedBy, checkpoint, ...facts };
    const reason = `The last checkpoint covers ${checkpoint.size} of ${this.#events} events. No signature covers the later events.`;
    return { verdict: "unvouched", vouchedBy: { kind: "nobody", reason }, ...facts };
  }

  #root(): Digest {
    return printDigest(this.#tree.root(), this.#hash?.algorithm);
  }

  /** The rest was not read, so nothing is known of it. */
  stop(reason: string): AuditCheck {
    return { verdict: "inconclusive", events: this.#events, reason };
  }

  fault(reason: string): AuditCheck {
    return { verdict: "broken", events: this.#events, seq: this.#seq, reason };
  }
}

const NO_EVENT = "An empty log proves nothing. Events may be missing.";
const NO_CHECKPOINT = "Author and end not checked: there is no checkpoint.";
const NONE = { opened: 0, closed: 0 };

/** How many of the values that an event commits to are shown with it; a fault where one that is shown is another. */
function countOpened(
  { seq, type, payload }: JsonObject,
  openings: JsonValue | undefined,
  by: Hash,
): { readonly opened: number; readonly closed: number } {
  if (type !== "data.kept" && openings === undefined) return NONE;
  const commitments =
    type === "data.kept" && isJsonObject(payload) && isJsonObject(payload["commitments"]) ? payload["commitments"] : {};
  const shown = new Set<string>();
  if (openings !== undefined && !isJsonArray(openings))
    throw new EvidenceFault(`The openings of event ${show(seq)} are not a list.`);
  for (const item of openings ?? []) {
    const opening = readOpening(item);
    if (
      !opening ||
      !Object.hasOwn(commitments, opening.path) ||
      commitments[opening.path] !== commitmentOf(opening, by)
    )
      throw new EvidenceFault(
        `Event ${show(seq)} has another commitment than the value shown for ${show(opening?.path)}.`,
      );
    shown.add(opening.path);
  }
  return { opened: shown.size, closed: Object.keys(commitments).length - shown.size };
}

const show = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 60);

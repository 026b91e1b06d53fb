import type { AuditEvent } from "../../audit/event.ts";
import type { TrustedKeys } from "../../audit/trusted-keys.ts";
import { verifyAudit } from "../../audit/verify.ts";
import { afterColon, type VouchedBy } from "../../audit/vouched.ts";
import { blake3Hash } from "../../hash/blake3-hash.ts";
import type { Hash } from "../../hash/hash.ts";
import { hashOf } from "../../hash/hash-by-algorithm.ts";
import { hasOwn } from "../../support/guards.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { ProofEvidence } from "./proof-evidence.ts";
import { failed, held, type Statement, unchecked } from "./statement.ts";

/** A value from the evidence, and the party that vouches for it. */
export interface Witnessed<Value> {
  readonly value: Value;
  readonly vouchedBy: VouchedBy;
}

/** A whole log. Its events are private: each statement about them leaves with the party that vouches for the log. */
export class WitnessedLog {
  readonly #events: readonly AuditEvent[];
  readonly #vouchedBy: VouchedBy;

  constructor(events: readonly AuditEvent[], vouchedBy: VouchedBy) {
    this.#events = events;
    this.#vouchedBy = vouchedBy;
  }

  /** @param gapOf Why the log, though nothing in it contradicts the statement, does not show all of it. */
  state(
    level: Statement["level"],
    name: Statement["name"],
    faultOf: (events: readonly AuditEvent[]) => string | undefined,
    gapOf: (events: readonly AuditEvent[]) => string | undefined = () => undefined,
  ): Statement {
    const fault = faultOf(this.#events);
    if (fault !== undefined) return failed(level, name, fault);
    const gap = gapOf(this.#events);
    if (gap !== undefined) return unchecked(level, name, gap);
    const vouchedBy = this.#vouchedBy;
    if (vouchedBy.kind === "key") return held(level, name, vouchedBy);
    const reason = `No trusted key vouches for the log: ${afterColon(vouchedBy.reason)}`;
    return held(level, name, { kind: "nobody", reason }, `It holds in this log. ${vouchedBy.reason}`);
  }

  find<Value>(valueIn: (event: AuditEvent) => Value | undefined): Witnessed<Value> | undefined {
    for (const event of this.#events) {
      const value = valueIn(event);
      if (value !== undefined) return { value, vouchedBy: this.#vouchedBy };
    }
    return undefined;
  }
}

export type LogRead =
  | { readonly kind: "whole"; readonly log: WitnessedLog }
  | { readonly kind: "broken"; readonly reason: string }
  /** Beyond the bounds of the reader. */
  | { readonly kind: "unread"; readonly reason: string }
  | { readonly kind: "none" };

/** A log can be larger than anything else that a kernel is given. */
export const LARGE = { maxNodes: 100_000_000, maxMembers: 100_000_000, maxStringUnits: 1_000_000_000 };

export async function readLog(
  { events, checkpoints = [] }: ProofEvidence,
  by: Hash,
  trusted: TrustedKeys | undefined,
): Promise<LogRead> {
  if (!events) return { kind: "none" };
  const plain = snapshot(events, LARGE);
  const list = plain.ok && isJsonArray(plain.value) && plain.value.every(isEvent) ? plain.value : undefined;
  if (!list) return { kind: "broken", reason: "The log is not a list of events." };
  const check = await verifyAudit(list, { part: true, algorithm: by.algorithm, checkpoints, trusted });
  if (check.verdict === "broken") return { kind: "broken", reason: check.reason };
  if (check.verdict === "inconclusive")
    return list.length === 0
      ? { kind: "broken", reason: check.reason }
      : { kind: "unread", reason: `The log was not checked: ${check.reason}` };
  return { kind: "whole", log: new WitnessedLog(list as unknown as readonly AuditEvent[], check.vouchedBy) };
}

function isEvent(event: JsonValue): boolean {
  return isJsonObject(event) && typeof event["payload"] === "object" && event["payload"] !== null;
}

/** Of a proof or an event. A digest that names no algorithm is compared with one in BLAKE3, and refused. */
export function algorithmOf(hashed: unknown): Hash {
  const hash = typeof hashed === "object" && hashed !== null && hasOwn(hashed, "hash") ? hashed.hash : undefined;
  return hashOf(hash) ?? blake3Hash;
}

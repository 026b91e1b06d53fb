import type { AuditLog } from "../../audit/log.ts";
import type { Usage } from "../../capability/broker.ts";
import { utf8Length } from "../../capability/matching/paths.ts";
import type { OwnNeed } from "../../capability/family.ts";
import type { BrokerError } from "../../capability/request.ts";
import type { Gate } from "../../capability/gate/gate.ts";
import type { OutputStream } from "../../hash/output-stream.ts";
import type { RunEnd } from "../../isolate/run.ts";
import type { JsonValue } from "../../json/json.ts";
import { refusalFault } from "../faults/fault.ts";
import type { Denials } from "../record/denials.ts";
import type { Reserved } from "./reserve.ts";

/** A call with the gate of its run. */
interface Claiming extends Reserved {
  readonly gate: Gate;
  readonly denials: Denials;
  readonly own: { bytes: number };
  readonly flow: OutputStream | undefined;
}

/**
 * The accesses that trusted code makes by itself pass the gate and stand on record as requests do. The policy can have become stricter since the decision. The first request
 * sends the arguments.
 *
 * @throws CallFault for a refusal
 */
export function claimOwn<Call extends Claiming>(started: Call, log: AuditLog): Call {
  const refusal = chargeOwn(started, started.inputBytes, log);
  if (refusal) throw refusalFault(refusal);
  return started;
}

/** Charges bytes to each of the accesses. With a log they are one more request, which passes the gate and stands there. */
export function chargeOwn(started: Claiming, bytes: number, log?: AuditLog): BrokerError | undefined {
  const { own } = started.tool;
  if (own.length === 0) return undefined; // As of nearly all tools.
  const requests = log ? 1 : 0;
  // The bounds of a call count it once, also where it makes several accesses.
  let bounded: Usage | undefined = { networkRequests: requests, networkBytes: bytes };
  for (const { needs } of own) {
    const [need] = needs;
    const usage = (need.destination && bounded) ?? { requests, bytes };
    if (need.destination) bounded = undefined;
    const refusal = log ? claim(started, need, usage, log) : started.gate.charge(need, usage);
    if (refusal) return refusal;
  }
  return undefined;
}

/**
 * Charges each of the accesses the output, or the words of a failure, as far as the code has not charged them by itself.
 *
 * @throws CallFault where a budget does not hold: the caller gets nothing
 */
export function chargeOutput(started: Claiming, end: RunEnd): void {
  if (started.tool.own.length === 0) return;
  const refusal = chargeOwn(started, Math.max(0, bytesOf(end, started.flow) - started.own.bytes));
  if (refusal) throw refusalFault(refusal);
}

function bytesOf(end: RunEnd, flow: OutputStream | undefined): number {
  if (end.kind === "threw" || end.kind === "refused") return utf8Length(end.message);
  if (end.kind !== "returned") return 0;
  const { output } = end;
  if (output.form === "stream") return flow?.byteLength ?? 0;
  return output.form === "binary" ? output.bytes.byteLength : utf8Length(output.text);
}

function claim({ call, gate, denials }: Claiming, need: OwnNeed, usage: Usage, log: AuditLog): BrokerError | undefined {
  const { kind, json, target } = need;
  const { index, refusal } = gate.claim(need, usage);
  if (refusal?.reason) call.decided(denials.proofOf(kind, target, refusal.reason));
  log.record("capability.used", call.scope, {
    index,
    kind,
    operation: "direct",
    target,
    outcome: refusal ? "refused" : "ok",
    requestHash: call.hash.jsonOrFault(json as unknown as JsonValue),
    responseHash: call.hash.json(null),
  });
  return refusal;
}

import type { AuditLog } from "../../audit/log.ts";
import { utf8Length } from "../../capability/matching/paths.ts";
import type { Usage } from "../../capability/broker.ts";
import type { OwnNeed } from "../../capability/family.ts";
import type { BrokerError } from "../../capability/request.ts";
import type { Gate } from "../../capability/gate/gate.ts";
import type { OutputStream } from "../../hash/output-stream.ts";
import type { IsolateOutput } from "../../isolate/port.ts";
import type { RunEnd } from "../../isolate/run.ts";
import type { JsonValue } from "../../json/json.ts";
import type { OwnUse } from "../../tool/define.ts";
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
 * The accesses that trusted code states pass the gate and stand on record as requests do. The policy can have become stricter since the decision. The kernel sees no bytes
 * of these requests, so it charges each of them the arguments.
 *
 * @throws CallFault for a refusal
 */
export function claimStated<Call extends Claiming>(started: Call, log: AuditLog): Call {
  const refusal = claim(started, started.inputBytes, log);
  if (refusal) throw refusalFault(refusal);
  return started;
}

/** Charges each stated access for more that trusted code does by itself while it runs. */
export function chargeOwn(started: Claiming, { isRequest, bytes }: OwnUse, log: AuditLog): BrokerError | undefined {
  const refusal = isRequest === true ? claim(started, bytes, log) : charge(started, bytes);
  if (!refusal) started.own.bytes += bytes;
  return refusal;
}

/**
 * Charges each stated access the output, or the words of a failure, as far as the tool has not charged them by itself.
 *
 * @throws CallFault where a budget does not hold: the caller gets nothing
 */
export function chargeStated(started: Claiming, end: RunEnd): void {
  if (started.tool.stated.length === 0) return;
  const refusal = charge(started, Math.max(0, bytesOf(end, started) - started.own.bytes));
  if (refusal) throw refusalFault(refusal);
}

function claim(started: Claiming, bytes: number, log: AuditLog): BrokerError | undefined {
  const { call, tool, gate, denials } = started;
  for (const need of statedBy(tool)) {
    const { kind, json, target } = need;
    const { index, refusal } = gate.claim(need, usageOf(started, need, 1, bytes));
    const use = { index, kind, operation: "direct", target, outcome: refusal ? "refused" : "ok" } as const;
    if (refusal?.reason) call.decided(denials.proofOf(kind, target, refusal.reason));
    log.record("capability.used", call.scope, {
      ...use,
      requestHash: call.hash.jsonOrFault(json as unknown as JsonValue),
      responseHash: call.hash.json(null),
    });
    if (refusal) return refusal;
  }
  return undefined;
}

function charge(started: Claiming, bytes: number): BrokerError | undefined {
  for (const need of statedBy(started.tool)) {
    const refusal = started.gate.charge(need, usageOf(started, need, 0, bytes));
    if (refusal) return refusal;
  }
  return undefined;
}

function statedBy({ stated }: Claiming["tool"]): readonly OwnNeed[] {
  return stated.map(({ needs: [need] }) => need);
}

/** The bounds of a call count it once, also where it states several accesses. */
function usageOf({ tool }: Claiming, need: OwnNeed, requests: number, bytes: number): Usage {
  const isFirst = need === statedBy(tool).find(({ destination }) => destination);
  return isFirst ? { networkRequests: requests, networkBytes: bytes } : { requests, bytes };
}

function bytesOf(end: RunEnd, { flow }: Claiming): number {
  if (end.kind === "threw" || end.kind === "refused") return utf8Length(end.message);
  return end.kind === "returned" ? outputBytes(end.output, flow) : 0;
}

function outputBytes(output: IsolateOutput, flow: Claiming["flow"]): number {
  if (output.form === "stream") return flow?.byteLength ?? 0;
  return output.form === "binary" ? output.bytes.byteLength : utf8Length(output.text);
}

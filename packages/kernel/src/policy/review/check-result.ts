import type { AuditEvent } from "../../audit/event.ts";
import { decodeBase64, encodeBase64 } from "../../bytes/base64.ts";
import { hashOf } from "../../hash/hash-by-algorithm.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { isJsonObject, type JsonObject } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { Proof } from "../proof/proof.ts";
import { absent, failed, type Statement, unchecked } from "./statement.ts";
import { LARGE, type LogRead } from "./witnessed-log.ts";

const place = [1, "result"] as const;

/**
 * The statement that a call's result makes. The proof is of the decision alone: outcome, data and effects stand in the log. `meta`, `operatorHint` and a media type stand in
 * neither, and are no part of the statement.
 */
export function resultStatement(foreign: unknown, proof: Proof, read: LogRead): Statement {
  const plain = snapshot(foreign, LARGE);
  if (!plain.ok || !isJsonObject(plain.value)) return failed(...place, "The result is not a JSON object.");
  const result = plain.value;
  const fault = proofFault(result, proof);
  if (fault !== undefined) return failed(...place, fault);
  if (read.kind === "none")
    return unchecked(...place, "Outcome, data and effects of the result stand in the log, and there is no log.");
  if (read.kind === "unread") return unchecked(...place, read.reason);
  if (read.kind === "broken") return absent(...place, "The check needs a complete log.");
  const against = (events: readonly AuditEvent[]): Finding => endFinding(result, endOf(events, result, proof));
  return read.log.state(
    ...place,
    (events) => against(events).fault,
    (events) => against(events).gap,
  );
}

/** A contradiction to the log, or members that it does not record. */
interface Finding {
  readonly fault?: string;
  readonly gap?: string;
}

function proofFault({ ok, callId, tool, proof: own }: JsonObject, proof: Proof): string | undefined {
  if (own !== undefined && !isSame(own, proof)) return "The result has another proof.";
  if (callId !== undefined && callId !== proof.callId) return "The result is of another call than its proof.";
  if (tool !== undefined && tool !== proof.tool) return "The result is of another tool than its proof.";
  if (ok !== undefined && typeof ok !== "boolean") return "The result is neither a success nor a failure.";
  return ok === true && proof.enforced && proof.decision !== "allow"
    ? "The proof does not allow the call, and yet there is a result."
    : undefined;
}

/** The log records no error of these codes: the call continues elsewhere, or the log itself failed. */
const unrecordedCodes: ReadonlySet<unknown> = new Set(["SUSPENDED", "AUDIT_UNAVAILABLE"]);

/** Foreign, also in a log that is whole. */
type End = Readonly<{ type: AuditEvent["type"]; payload: Readonly<Record<string, unknown>> }>;

/** Of a failure without a proof, which cannot name its tool. */
export function failureFinding(result: JsonObject, events: readonly AuditEvent[], callId: string): Finding {
  const own = events.filter((event) => event.callId === callId);
  const invoked = own.find(({ type }) => type === "call.invoked") as { readonly payload: JsonObject } | undefined;
  if (invoked && invoked.payload["tool"] !== result["tool"]) return { fault: "The log has another tool of the call." };
  return endFinding(result, endOf(own, result, { callId }));
}

function endOf(
  events: readonly AuditEvent[],
  { error }: JsonObject,
  { callId }: Pick<Proof, "callId">,
): End | undefined {
  if (isJsonObject(error) && unrecordedCodes.has(error["code"])) return undefined;
  const isEnd = (
    event: AuditEvent,
  ): event is Extract<AuditEvent, { type: "tool.completed" | "tool.failed" | "tool.blocked" }> =>
    event.callId === callId && ["tool.completed", "tool.failed", "tool.blocked"].includes(event.type);
  return events.find(isEnd);
}

function endFinding(result: JsonObject, end: End | undefined): Finding {
  if (!end) return { gap: "The log does not have the end of this call." };
  const { ok, tool: _, callId: __, proof: ___, meta: ____, ...claims } = result;
  const isCompleted = end.type === "tool.completed";
  if (ok !== undefined && ok !== isCompleted) return { fault: "The log has another outcome of the call." };
  const checks = ok === undefined ? new Map<string, Check>() : isCompleted ? completed : failure;
  const gaps: string[] = [];
  for (const member of Object.keys(claims)) {
    const outcome = checks.get(member)?.(claims, end.payload) ?? "unrecorded";
    if (outcome === "unrecorded") gaps.push(member);
    else if (outcome !== "recorded") return { fault: outcome };
  }
  return gaps.length === 0
    ? {}
    : { gap: `The log does not record these members of the result: ${gaps.join(", ").slice(0, 200)}.` };
}

/** Anything but the two words is a fault. */
type Check = (claims: JsonObject, payload: End["payload"]) => "recorded" | "unrecorded" | `The ${string}`;

const effects: Check = (claims, payload) => {
  // A call that never ran has none, but for those of a result that it shares.
  const { effects: recorded = [] } = payload;
  return isSame(claims["effects"], recorded) ? "recorded" : "The log has other effects of the call.";
};

const completed: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["effects", effects],
  [
    "hash",
    ({ hash }, { outputHash }) => (hash === outputHash ? "recorded" : "The log has another hash of the output."),
  ],
  ["data", checkData],
  // It says how to read the data, and is checked with it.
  ["encoding", ({ data, encoding }) => (encoding === "base64" && typeof data === "string" ? "recorded" : "unrecorded")],
  ["reference", checkReference],
]);

const failure: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["effects", effects],
  ["error", checkError],
]);

function checkData(claims: JsonObject, { outputHash }: End["payload"]): ReturnType<Check> {
  const { data, encoding, reference } = claims;
  const by = hashOf(outputHash);
  if (!by || data === undefined) return "The log has another hash of the output.";
  if (encoding === "base64") {
    const bytes = typeof data === "string" ? decodeBase64(data) : undefined;
    const isOutput = bytes !== undefined && encodeBase64(bytes) === data && by.bytes(bytes) === outputHash;
    return isOutput ? "recorded" : "The data of the result has another hash.";
  }
  if (by.jsonOrFault(data) === outputHash) return "recorded";
  if (typeof data === "string" && by.text(data) === outputHash) return "recorded";
  if (data !== null) return "The data of the result has another hash.";
  // The output of a stream, and one behind a reference, is elsewhere.
  return reference === undefined ? "unrecorded" : "recorded";
}

function checkReference({ reference }: JsonObject, { outputHash, outputBytes }: End["payload"]): ReturnType<Check> {
  const { mediaType: _, ...known } = isJsonObject(reference) ? reference : {};
  return isSame(known, { digest: outputHash, byteLength: outputBytes })
    ? "recorded"
    : "The reference is to another output than that of the log.";
}

function checkError({ error }: JsonObject, { errorHash }: End["payload"]): ReturnType<Check> {
  const { operatorHint: _, ...told } = isJsonObject(error) ? error : {};
  return hashOf(errorHash)?.jsonOrFault(told) === errorHash ? "recorded" : "The log has another error of the call.";
}

/** By canonical JSON. */
function isSame(a: unknown, b: unknown): boolean {
  const [one, other] = [snapshot(a), snapshot(b)];
  return one.ok && other.ok && canonicalJson(one.value) === canonicalJson(other.value);
}

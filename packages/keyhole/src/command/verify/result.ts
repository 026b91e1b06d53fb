import { type JsonObject, type JsonValue, normalize } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { isObject } from "../io.ts";

/** The members of a call's result beside its proof, held against proof and log. */
export interface ResultCheck {
  /** The place where the result contradicts proof or log. */
  readonly fault?: string;
  /** Members that nothing here attests; empty where the log holds all of them. */
  readonly unchecked: string;
}

/** Returns `undefined` for a document that is no result. The proof is of the decision alone: data, effects and outcome are the log's. */
export function checkResult(document: JsonValue, events: readonly JsonValue[] | undefined): ResultCheck | undefined {
  if (!isObject(document) || typeof document["ok"] !== "boolean" || !isObject(document["proof"])) return undefined;
  const { ok, proof, callId, tool } = document;
  const broken = (fault: string): ResultCheck => ({ fault, unchecked: "" });
  if (callId !== proof["callId"]) return broken("The result is of another call than its proof.");
  if (tool !== proof["tool"]) return broken("The result is of another tool than its proof.");
  if (ok && proof["enforced"] === true && proof["decision"] !== "allow")
    return broken("The proof does not allow the call, and yet there is a result.");
  const end = events?.filter(isObject).find((event) => event["callId"] === callId && endings.has(event["type"]));
  const payload = end && isObject(end["payload"]) ? end["payload"] : undefined;
  if (payload === undefined)
    return { unchecked: "Outcome, data and effects of the result: they stand in the log. Name it with --log." };
  const fault = faultBy(document, end?.["type"] === "tool.completed", payload);
  if (fault !== undefined) return broken(fault);
  const isSeen = !ok || "normalizer" in payload || isDataOf(document);
  if (!isSeen) return broken("The data of the result has another hash.");
  return { unchecked: "normalizer" in payload ? "Data of the result: its normal form is that of a program." : "" };
}

const endings: ReadonlySet<unknown> = new Set(["tool.completed", "tool.failed", "tool.blocked"]);

function faultBy(result: JsonObject, isCompleted: boolean, payload: JsonObject): string | undefined {
  if (result["ok"] !== isCompleted) return "The log has another outcome of the call.";
  if (!isCompleted) {
    const code = isObject(result["error"]) ? result["error"]["code"] : undefined;
    return code === payload["code"] ? undefined : "The log has another error of the call.";
  }
  if (result["hash"] !== payload["outputHash"]) return "The log has another hash of the output.";
  const isSame = JSON.stringify(result["effects"]) === JSON.stringify(payload["effects"]);
  return isSame ? undefined : "The log has other effects of the call.";
}

/** Data that stands elsewhere, behind a reference or in a stream, is not claimed here. */
function isDataOf({ data, hash }: JsonObject): boolean {
  if (data === undefined || data === null) return true;
  const by = typeof hash === "string" ? hashOf(hash) : undefined;
  return by !== undefined && (["json", "text"] as const).some((kind) => normalizedHash(kind, data, by) === hash);
}

function normalizedHash(
  kind: "json" | "text",
  data: JsonValue,
  by: Parameters<typeof normalize>[2],
): string | undefined {
  const normal = normalize(kind, data, by);
  return normal.ok ? normal.hash : undefined;
}

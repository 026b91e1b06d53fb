import {
  ceilings,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  policy as policyOf,
  type PolicyDocument,
  pointerOf,
} from "@keyhole/kernel";
import { type ConfigFault, named } from "../fault.ts";

/** A policy document, or the path of its file. */
export const policySection: JsonObject = { type: ["object", "string"], minLength: 1 };

/** Bounds of tools, by their names. They lower those of the tools. */
export const limitsSection: JsonObject = named({
  type: "object",
  properties: Object.fromEntries(Object.keys(ceilings).map((name) => [name, { type: "integer", minimum: 1 }])),
  additionalProperties: false,
});

export type Limits = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The policy grants no access, and tier 2 asks. */
const withoutGrants: JsonObject = { version: "1", posture: "standard" };

export type LimitedPolicy =
  | { readonly ok: true; readonly policy: PolicyDocument }
  | ({ readonly ok: false } & ConfigFault);

/** The policy with the limits of the configuration. The host refuses two limits of one bound: which one holds is not said. */
export function policyWith(document: JsonValue | undefined, limits: Limits): LimitedPolicy {
  // The text says why the policy's file is unreadable.
  if (typeof document === "string")
    return { ok: false, path: "/policy", message: `The policy's file is unreadable: ${document}.`, hint: "" };
  const policy = document ?? withoutGrants;
  const merged = isJsonObject(policy) ? withLimits(policy, limits) : policy;
  if (typeof merged === "string")
    return { ok: false, path: merged, message: "The policy bounds this tool too.", hint: "Keep one of the two." };
  if (Object.keys(limits).length > 0 && isJsonObject(merged) && merged["enforcement"] === "observe") {
    const hint = "Remove `enforcement` from the policy, or the limits.";
    return { ok: false, path: "/limits", message: "The policy only observes, so no limit would hold.", hint };
  }
  const loaded = policyOf(merged);
  // It was validated just now.
  if (loaded.ok) return { ok: true, policy: merged as unknown as PolicyDocument };
  const { path, message, hint } = loaded.error;
  const [, tool = ""] = /^\/tools\/([^/]+)\/bounds/.exec(path) ?? [];
  return { ok: false, path: Object.hasOwn(limits, tool) ? `/limits/${tool}` : `/policy${path}`, message, hint };
}

function withLimits(policy: JsonObject, limits: Limits): JsonObject | string {
  const names = Object.keys(limits);
  if (names.length === 0) return policy;
  const { tools = {} } = policy;
  const own = isJsonObject(tools) ? tools : {};
  const governed = new Map(Object.entries(own));
  for (const name of names) {
    const before = governed.get(name) ?? {};
    if (!isJsonObject(before)) return policy;
    if (before["bounds"] !== undefined) return pointerOf(["limits", name]);
    governed.set(name, { ...before, bounds: { ...limits[name] } });
  }
  return { ...policy, tools: Object.fromEntries(governed) };
}

import { isJsonObject, type JsonObject } from "@keyhole/kernel";
import { isProof, suggestedGrants } from "@keyhole/kernel/policy";
import type { ActiveRun } from "./run-state.ts";

/** An access that a call lacked. */
export interface Wanted {
  readonly kind: string;
  /** Empty where the error does not name it. */
  readonly target: string;
}

/** The accesses whose absence ended the call, or kept it from its start. All of it is foreign text. */
export function wantedOf(run: ActiveRun): readonly Wanted[] {
  if (run.phase !== "done" || run.result.ok) return [];
  const { proof, error } = run.result;
  const request = isProof(proof) ? proof.request : undefined;
  if (request !== undefined) return [{ kind: request.kind, target: request.target }];
  // An edge keeps the hint from a caller that is not an operator.
  const grants = typeof error.operatorHint === "string" ? suggestedGrants(error.operatorHint) : [];
  return grants.flatMap(({ capability }) => (isJsonObject(capability) ? wantedIn(capability) : []));
}

const targetNames = ["paths", "keys", "databases", "tools", "names", "commands"];

function wantedIn(capability: JsonObject): readonly Wanted[] {
  const { kind } = capability;
  if (typeof kind !== "string") return [];
  const ports = textsOf(capability["ports"]).filter((port) => port !== "443" && port !== "80");
  const hosts = textsOf(capability["hosts"]).map((host) => [host, ...ports].join(":"));
  const targets = targetNames.map((name) => textsOf(capability[name]).join(", "));
  return [{ kind, target: `${hosts.join(", ")}${targets.join("")}` }];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each !== "object").map(String) : [];
}

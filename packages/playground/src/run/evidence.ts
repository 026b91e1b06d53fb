import type { AuditEvent, JsonObject, JsonValue, Proof } from "@keyhole/kernel";
import { isAnswer, proofIn } from "@keyhole/kernel/policy";
import type { Governance } from "../client/kernel-client.ts";
import { withDefaults } from "@keyhole/worker-host/edge-protocol";
import type { Trace } from "./run-state.ts";

/**
 * The evidence with which another person checks a decision offline: the proof, the call's events, the policy that decided, the tool's manifest and the exact input.
 * `keyhole verify FILE` and `verify.html` read it. A policy that has changed since is left out.
 */
export async function evidenceOf(
  { tool, input, events }: Trace,
  proof: Proof,
  governance: Governance | undefined,
): Promise<JsonObject> {
  const governed = await governance?.read();
  const policy = governed?.policyHash === proof.policyHash ? governed.policy : undefined;
  const isWhole = events.every(({ seq }, index) => index === 0 || seq === events[index - 1]!.seq + 1);
  return {
    proof: proof as unknown as JsonValue,
    tool: { manifest: tool.manifest as unknown as JsonValue, codeHash: tool.codeHash },
    ...(input !== null && { input: withDefaults(tool.manifest.input, input) }),
    // With events of other calls between them they do not chain, and prove nothing: the question stands alone.
    ...(isWhole ? { events: events as unknown as JsonValue } : questionOf(proof, events)),
    ...(policy !== undefined && { policy }),
  };
}

/** The proof of the question that this proof answers. */
function questionOf({ parentProofId, reasonCode }: Proof, events: readonly AuditEvent[]): JsonObject {
  if (!isAnswer(reasonCode)) return {};
  const parent = events.map(proofIn).find((proof) => proof?.proofId === parentProofId);
  return parent ? { parent: parent as unknown as JsonValue } : {};
}

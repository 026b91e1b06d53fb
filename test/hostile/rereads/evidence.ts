import { createKernel, type Proof } from "@keyhole/kernel";
import { readEvidence, verifyProof } from "@keyhole/kernel/policy";
import { granting, toolOf } from "../../support/kernel.ts";
import type { Seam } from "./seam.ts";

const policy = granting({ kind: "clock" });

/** A proof of an allowed call, with what it is checked with. */
async function provenCall(input: object, document: unknown = policy) {
  const kernel = await createKernel({ policy: document });
  const registered = kernel.registerTrusted(toolOf((given) => given, { tier: 1 }));
  if (!registered.ok) throw new Error(registered.error.message);
  const { proof } = await kernel.call("subject", input);
  return { proof: proof!, policy: document, tool: { manifest: registered.value.manifest }, input };
}

const one = await provenCall({ a: 1 });
const other = await provenCall({ a: 2 }, { version: "1", posture: "strict" });

export const seams: readonly Seam[] = [
  {
    name: "a proof that is verified",
    first: one.proof,
    second: other.proof,
    ways: ["a proxy"],
    run: (proof: Proof) => verifyProof(proof),
  },
  {
    name: "what a proof is verified with",
    first: { policy: one.policy, tool: one.tool, input: one.input },
    second: { policy: other.policy, tool: other.tool, input: other.input },
    ways: ["a proxy"],
    run: (evidence) => verifyProof(one.proof, evidence),
  },
  {
    name: "a file of evidence",
    first: { proof: one.proof, policy: one.policy },
    second: { proof: other.proof, policy: other.policy },
    ways: ["a proxy"],
    run: async (file) => readEvidence(file),
  },
];

import type { JsonValue } from "@keyhole/kernel";
import { createProofKey, proofSigner } from "@keyhole/kernel/policy";
import { openKernel, toolOf } from "../support/kernel.ts";

export const document = {
  version: "1",
  posture: "standard",
  labels: { untrusted: { tools: ["subject"] } },
  rules: [
    { id: "large", effect: "ask", reason: "Large.", when: { arguments: [{ at: "/amount", moreThan: 100 }] } },
    { id: "eve", effect: "deny", reason: "Not Eve.", when: { caller: ["eve"] } },
    {
      id: "budget",
      effect: "deny",
      reason: "Enough.",
      when: { count: { windowMs: 60_000, sum: "/amount", moreThan: 1_000 } },
    },
    {
      id: "morning",
      effect: "deny",
      reason: "Too early.",
      when: { time: { to: "00:00:00".slice(0, 5), from: "23:59" } },
    },
    { id: "odd", effect: "ask", reason: "Odd.", when: { arguments: [{ at: "/note", startsWith: "!" }] } },
  ],
};

/** One call for each way of deciding, signed, and their log. */
export async function record() {
  const signer = await proofSigner(await createProofKey());
  const bench = await openKernel({
    policy: document,
    signer,
    approver: async ({ input }) =>
      (input as { amount: number }).amount === 666
        ? { answer: "edit", input: { amount: 7 }, approver: "ada" }
        : { answer: "allow", scope: "once", approver: "ada" },
  });
  const registered = bench.kernel.registerTrusted(toolOf(() => 1, { input: { type: "object" } }));
  if (!registered.ok) throw new Error(registered.error.message);
  const call = async (input: JsonValue, caller = "ada", grants?: []) => ({
    input,
    result: await bench.kernel.call("subject", input, { caller, sessionId: "s", ...(grants && { grants }) }),
  });
  const calls = {
    allowed: await call({ amount: 1 }),
    approved: await call({ amount: 101 }),
    denied: await call({ amount: 1 }, "eve"),
    erring: await call({ amount: 1, note: 5 }),
    spent: await call({ amount: 999 }),
    narrowed: await call({ amount: 2 }, "ada", []),
  };
  const edited = await bench.kernel.call("subject", { amount: 666 }, { caller: "ada", sessionId: "s" });
  return { ...bench, calls, edited, manifest: registered.value.manifest, log: await bench.events() };
}

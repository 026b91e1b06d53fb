import type { ApprovalAnswer, Approver } from "@keyhole/kernel";
import { openKernel, toolOf } from "../support/kernel.ts";

export const asking = { version: "1", posture: "standard" };

export const pay = (execute: () => unknown) =>
  toolOf(execute, {
    name: "pay",
    tier: 2,
    bounds: { concurrency: 1, timeoutMs: 1_000 },
    input: { type: "object", properties: { amount: { type: "number" }, to: { type: "string" } }, required: ["amount"] },
  });

export async function open(approver: Approver, policy: object = asking) {
  const bench = await openKernel({ policy, approver });
  let runs = 0;
  const registered = bench.kernel.registerTrusted(pay(() => ++runs));
  if (!registered.ok) throw new Error(registered.error.message);
  const call = (input: object, more: object = {}) =>
    bench.kernel.call("pay", input, { sessionId: "s", caller: "ada", ...more });
  return { ...bench, call, runs: () => runs, manifest: registered.value.manifest };
}

export const once: ApprovalAnswer = { answer: "allow", scope: "once", approver: "bob" };

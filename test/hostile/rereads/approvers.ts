import type { ApprovalAnswer, Approver } from "@keyhole/kernel";
import { toolOf } from "../../support/kernel.ts";
import { openKernel, type Seam, seen } from "./seam.ts";

const asking = { version: "1", posture: "standard" } as const;

async function withApprover(answer: unknown, inputs: readonly object[]): Promise<unknown> {
  // Each is given once.
  const answers = [answer];
  const approver: Approver = async () => (answers.shift() ?? { answer: "deny", approver: "bob" }) as ApprovalAnswer;
  const kernel = await openKernel({ policy: asking, approver });
  kernel.registerTrusted(toolOf((input) => input, { tier: 2 }));
  const results = [];
  for (const input of inputs) results.push(await kernel.call("subject", input, { sessionId: "s" }));
  return seen(kernel, results);
}

const limited = (atMost: number) => ({ answer: "allow", scope: "pattern", pattern: [{ at: "/amount", atMost }], approver: "ada" }); // prettier-ignore

export const seams: readonly Seam[] = [
  {
    name: "an approver's yes",
    first: { answer: "allow", scope: "once", approver: "ada" },
    second: { answer: "deny", scope: "session", approver: "eve", reason: "no" },
    run: (answer) => withApprover(answer, [{ a: 1 }, { a: 1 }]),
  },
  {
    name: "an approver's pattern",
    first: limited(100),
    second: limited(1e9),
    ways: ["a proxy"],
    run: (answer) => withApprover(answer, [{ amount: 5 }, { amount: 1_000_000 }]),
  },
  {
    name: "an approver's no",
    first: { answer: "deny", approver: "ada", reason: "not today" },
    second: { answer: "allow", scope: "session", approver: "eve", reason: "why not" },
    run: (answer) => withApprover(answer, [{}]),
  },
  {
    name: "an approver's edit",
    first: { answer: "edit", approver: "ada", input: { a: [1] } },
    second: { answer: "allow", approver: "eve", input: { a: [2] }, scope: "once" },
    ways: ["a proxy"],
    run: async (answer) => {
      const answers = [answer, { answer: "allow", scope: "once", approver: "ada" }];
      const kernel = await openKernel({ policy: asking, approver: async () => answers.shift() as never });
      kernel.registerTrusted(toolOf((input) => input, { tier: 2 }));
      return seen(kernel, await kernel.call("subject", { a: [0] }));
    },
  },
];

import {
  type CallOptions,
  IsolateFailure,
  type Kernel,
  type KernelOptions,
  modes,
  type PolicyDocument,
} from "@keyhole/kernel";
import { echo, toolOf } from "../../support/kernel.ts";
import { hostOpening, packed } from "../../support/module-host.ts";
import type { AnyTool } from "../../support/registered.ts";

/** One thing that a kernel has to remember, and a decision that hangs on it. */
export interface StateScenario {
  readonly title: string;
  /** Made anew for each kernel. */
  options(): KernelOptions;
  /** What the kernel remembers from then on. */
  govern(kernel: Kernel): Promise<unknown>;
  /** Asks for the decision, as a text. Asked again it is the same. */
  decide(kernel: Kernel): Promise<string>;
  readonly expected: string;
}

/** How often the deed was done, in all kernels of a test. */
export const deeds = { done: 0 };

/** Every kernel of a scenario has all of them. */
export const tools: readonly AnyTool[] = [
  echo,
  toolOf(() => ++deeds.done, { name: "deed", determinism: "external" }),
  toolOf(() => 1, { name: "reader" }),
  toolOf(() => 1, { name: "sender" }),
  toolOf(({ amount }: { amount: number }) => amount, { name: "pay" }),
  toolOf(() => 1, { name: "rare", bounds: { callsPerHour: 2 } }),
  toolOf(() => 1, { name: "asks", tier: 2 }),
  toolOf(
    () => {
      deeds.done++;
      throw new Error("it broke");
    },
    { name: "breaks", determinism: "external" },
  ),
];

export async function outcomeOf(
  kernel: Kernel,
  tool: string,
  input: unknown = {},
  options: CallOptions = {},
): Promise<string> {
  const result = await kernel.call(tool, input, { sessionId: "s", caller: "ada", ...options });
  return result.ok ? `ok ${JSON.stringify(result.data)}` : result.error.code;
}

const standard = { version: "1", posture: "standard" } as const satisfies PolicyDocument;
const hourMs = 3_600_000;

const approverSaying =
  (answer: "allow" | "deny", scope: "session" | "pattern" = "session"): NonNullable<KernelOptions["approver"]> =>
  async () =>
    answer === "deny"
      ? { answer, approver: "bob" }
      : scope === "session"
        ? { answer, approver: "bob", scope }
        : { answer, approver: "bob", scope, pattern: [{ at: "/amount", atMost: 10 }] };

export const scenarios: readonly StateScenario[] = [
  {
    title: "a label of a session, and the deny that follows from it",
    options: () => ({
      policy: {
        ...standard,
        labels: { secret: { tools: ["reader"] } },
        rules: [
          {
            id: "no-leak",
            effect: "deny",
            when: { tool: ["sender"], labels: ["secret"] },
            reason: "It has seen secrets.",
          },
        ],
      },
    }),
    govern: (kernel) => outcomeOf(kernel, "reader"),
    decide: (kernel) => outcomeOf(kernel, "sender"),
    expected: "POLICY_DENIED",
  },
  {
    title: "a counter of calls that is used up",
    options: () => ({
      policy: {
        ...standard,
        rules: [
          {
            id: "three",
            effect: "deny",
            when: { tool: ["deed"], count: { windowMs: hourMs, moreThan: 3 } },
            reason: "Three an hour.",
          },
        ],
      },
    }),
    async govern(kernel) {
      for (let i = 0; i < 3; i++) await outcomeOf(kernel, "deed");
    },
    decide: (kernel) => outcomeOf(kernel, "deed"),
    expected: "POLICY_DENIED",
  },
  {
    title: "a sum of amounts that is used up",
    options: () => ({
      policy: {
        ...standard,
        rules: [
          {
            id: "ten",
            effect: "deny",
            when: { tool: ["pay"], count: { windowMs: hourMs, sum: "/amount", moreThan: 10, per: [] } },
            reason: "Ten an hour.",
          },
        ],
      },
    }),
    govern: (kernel) => outcomeOf(kernel, "pay", { amount: 8 }),
    async decide(kernel) {
      return `${await outcomeOf(kernel, "pay", { amount: 3 })} ${await outcomeOf(kernel, "pay", { amount: 0 })}`;
    },
    expected: "POLICY_DENIED ok 0",
  },
  {
    title: "calls of an hour that are used up",
    options: () => ({ policy: standard }),
    async govern(kernel) {
      for (let i = 0; i < 2; i++) await outcomeOf(kernel, "rare");
    },
    decide: (kernel) => outcomeOf(kernel, "rare"),
    expected: "RATE_LIMITED",
  },
  {
    title: "an approval for a session",
    options: () => ({ policy: standard }),
    govern: (kernel) => outcomeOf(kernel, "asks", {}, { approver: approverSaying("allow") }),
    decide: (kernel) => outcomeOf(kernel, "asks", {}, { approver: approverSaying("deny") }),
    expected: "ok 1",
  },
  {
    title: "an approval for a pattern of arguments, and no wider",
    options: () => ({ policy: standard }),
    govern: (kernel) => outcomeOf(kernel, "asks", { amount: 5 }, { approver: approverSaying("allow", "pattern") }),
    async decide(kernel) {
      const asked = { approver: approverSaying("deny") };
      return `${await outcomeOf(kernel, "asks", { amount: 10 }, asked)} ${await outcomeOf(kernel, "asks", { amount: 11 }, asked)}`;
    },
    expected: "ok 1 APPROVAL_DENIED",
  },
  {
    title: "that an approval was revoked",
    options: () => ({ policy: standard }),
    async govern(kernel) {
      await outcomeOf(kernel, "asks", {}, { approver: approverSaying("allow") });
      for (const { approvalId } of kernel.approvals.list()) await kernel.approvals.revoke(approvalId, "enough");
    },
    decide: (kernel) => outcomeOf(kernel, "asks", {}, { approver: approverSaying("deny") }),
    expected: "APPROVAL_DENIED",
  },
  {
    title: "that grants were taken away",
    options: () => ({
      policy: { ...standard, grants: [{ tool: "*", capability: { kind: "clock" } }] },
    }),
    govern: (kernel) => kernel.grants.revoke({ caller: "ada" }, "enough"),
    decide: async (kernel) => JSON.stringify(kernel.grants.list().map(({ match, reason }) => ({ match, reason }))),
    expected: '[{"match":{"caller":"ada"},"reason":"enough"}]',
  },
  {
    title: "that grants were given back",
    options: () => ({ policy: standard }),
    async govern(kernel) {
      const { revocationId } = await kernel.grants.revoke({ caller: "ada" }, "enough");
      await kernel.grants.restore(revocationId, "again");
    },
    decide: async (kernel) => JSON.stringify(kernel.grants.list()),
    expected: "[]",
  },
  ...modes.map((mode): StateScenario => ({
    title: `the mode ${mode}, after a stricter one`,
    options: () => ({ policy: standard }),
    async govern(kernel) {
      await kernel.setMode("LOCKDOWN", "a drill");
      await kernel.setMode(mode, "the drill went on");
    },
    decide: async ({ mode: kept }) => kept,
    expected: mode,
  })),
];

/** A key whose call ran is used: what was done under it is not done again. */
export function underKey(kernel: Kernel, tool: "deed" | "breaks"): Promise<string> {
  return outcomeOf(kernel, tool, {}, { idempotencyKey: tool });
}

/** A package whose isolates cannot be opened, and its host. */
export const dying = packed(toolOf(() => 1, { name: "dying" }));
export const failingHost = (): NonNullable<KernelOptions["host"]> =>
  hostOpening("failing", async () => {
    throw new IsolateFailure("ISOLATE_LOST", "it died");
  });

import {
  type CallOptions,
  type CallResult,
  type Capability,
  createKernel,
  type Kernel,
  type PolicyDocument,
} from "@keyhole/kernel";
import { expect, it } from "vitest";
import { openPolicy } from "../support/kernel.ts";
import { type AskedNeed, asking } from "../support/needs.ts";

/*
 * Why a call may not do something. Each row has one cause, and the error names this one.
 */

const need: AskedNeed = {
  kind: "net.read",
  method: "GET",
  host: "example.com",
  isPublic: true,
  port: 443,
  path: "/docs/a",
};
const docs: Capability = { kind: "net.read", hosts: ["example.com"], paths: ["/docs"] };
const elsewhere: Capability = { kind: "net.read", hosts: ["example.org"] };
const any: Capability = { kind: "net.read", hosts: ["*"] };
const exact =
  '{"kind":"net.read","hosts":["example.com"],"ports":[443],"paths":["/docs/a"],"methods":["GET"],"requests":1}';

interface Row {
  readonly declared?: readonly Capability[];
  readonly granted?: readonly Capability[];
  readonly rules?: PolicyDocument["rules"];
  readonly call?: CallOptions;
  readonly before?: (kernel: Kernel) => Promise<unknown>;
  readonly times?: number;
  readonly tier?: number;
}

async function errorOf({ declared = [any], granted = [any], rules = [], call, before, times = 1, tier = 0 }: Row) {
  const grants = granted.map((capability) => ({ tool: "subject", caller: "ada", capability }));
  const needs = Array.from({ length: times }, () => need);
  const { tool, broker } = asking(needs, declared, { tier });
  const kernel = await createKernel({ policy: { ...openPolicy, grants, rules }, brokers: [broker] });
  kernel.registerTrusted(tool);
  await before?.(kernel);
  const result: CallResult = await kernel.call("subject", {}, { caller: "ada", ...call });
  return result.ok ? expect.unreachable("it was allowed") : result.error;
}

const grantOf = (capability: string): string => `{"tool":"subject","caller":"ada","capability":${capability}}`;
const denied = "CAPABILITY_DENIED";

const literally = (text: string): RegExp => new RegExp(`^${text.replaceAll(/[$*+?.()[\]{}|\\^]/g, "\\$&")}`);

it.each<[string, Row, string, object | null, string, RegExp]>([
  [
    "the policy grants nothing",
    { granted: [] },
    denied,
    { reason: "not-granted", missing: ["net.read"] },
    'needs net.read, which is not granted to "ada"',
    /^Add net\.read to the grants of the policy, with no more than the tool needs\.$/,
  ],
  [
    "the policy grants something else",
    { granted: [elsewhere] },
    denied,
    { reason: "not-granted" },
    "The policy does not grant net.read of GET example.com:443/docs/a.",
    literally(`Add it to the grants of the policy: ${grantOf(exact)}`),
  ],
  [
    "the call's options leave out the kind",
    { call: { grants: [] } },
    denied,
    { reason: "narrowed", missing: ["net.read"] },
    "needs net.read, which the call's own `grants` leave out",
    /^The policy grants it\. Add net\.read to the call's `grants`/,
  ],
  [
    "the call's options leave out the target",
    { call: { grants: [elsewhere] } },
    denied,
    { reason: "narrowed" },
    "The call's own `grants` leave out net.read of GET example.com:443/docs/a.",
    literally(`The policy grants it. Add it to the call's \`grants\`: ${exact}`),
  ],
  [
    "policy and options leave it out",
    { granted: [elsewhere], call: { grants: [elsewhere] } },
    denied,
    { reason: "not-granted" },
    "The policy does not grant",
    /The call's own `grants` leave it out as well\.$/,
  ],
  [
    "the manifest does not declare it",
    { declared: [elsewhere] },
    denied,
    { reason: "undeclared" },
    "The tool does not declare net.read of GET example.com:443/docs/a.",
    /^Declare it in `capabilities` of the tool's manifest: .*"paths":\["\/docs\/a"\]/,
  ],
  [
    "a rule about requests denies it",
    { rules: [{ id: "no-docs", effect: "deny", when: { path: ["/docs"] }, reason: "Closed." }] },
    denied,
    { reason: "forbidden" },
    "Closed. (Rule no-docs.)",
    /^A deny of the policy overrides every grant\./,
  ],
  [
    "the grant was revoked before",
    { before: (kernel) => kernel.grants.revoke({ caller: "ada" }, "Under review.") },
    denied,
    { reason: "revoked", revoked: "net.read" },
    "the grant was revoked: Under review.",
    /grants\.restore/,
  ],
  [
    "the policy's budget is used up",
    { granted: [{ ...docs, requests: 1 }], times: 2 },
    "BOUNDS_EXCEEDED",
    null,
    "The call has used up its grants for net.read",
    /^Raise `requests`, `bytes` or `totalBytes` of the grant in the policy\.$/,
  ],
  [
    "the manifest's budget is used up",
    { declared: [{ ...any, requests: 1 }], times: 2 },
    "BOUNDS_EXCEEDED",
    null,
    "The call has used up its grants for net.read",
    /of the capability in the tool's manifest\.$/,
  ],
  [
    "the call's budget is used up",
    { call: { grants: [{ ...any, requests: 1 }] }, times: 2 },
    "BOUNDS_EXCEEDED",
    null,
    "The call has used up its grants for net.read",
    /in the call's own `grants`\.$/,
  ],
  [
    "the call's bound is used up",
    { call: { bounds: { networkRequests: 1 } }, times: 2 },
    "BOUNDS_EXCEEDED",
    null,
    "The call may make 1 network requests.",
    /^Raise `bounds\.networkRequests`/,
  ],
  [
    "a rule denies the call",
    { rules: [{ id: "no-ada", effect: "deny", when: { caller: ["ada"] }, reason: "Not today." }] },
    "POLICY_DENIED",
    { reasonCode: "rule", rules: ["no-ada"] },
    "Not today.",
    /^To allow the call, change the rules that `details` names/,
  ],
  [
    "the posture denies the tier",
    { tier: 4 },
    "POLICY_DENIED",
    { reasonCode: "posture", rules: [] },
    "The posture permissive does not run tools of tier 4",
    /^Set a milder posture/,
  ],
  [
    "the mode denies it",
    { before: (kernel) => kernel.setMode("LOCKDOWN", "Alarm.") },
    "POLICY_DENIED",
    { reasonCode: "mode", rules: [] },
    "Mode LOCKDOWN restricts tools of this kind.",
    /^Set a milder mode/,
  ],
  [
    "the policy's rate is used up",
    {
      rules: [
        { id: "once", effect: "deny", when: { count: { windowMs: 60_000, moreThan: 1 } }, reason: "Once a minute." },
      ],
      before: (kernel) => kernel.call("subject", {}, { caller: "ada" }),
    },
    "POLICY_DENIED",
    { reasonCode: "rule", rules: ["once"] },
    "Once a minute.",
    /^To allow the call, change the rules/,
  ],
])("%s: the error says so, and what to change", async (_, row, code, details, message, operatorHint) => {
  const error = await errorOf(row);
  expect(error).toMatchObject({ code, ...(details !== null && { details }) });
  expect(error.message).toContain(message);
  expect(error.operatorHint).toMatch(operatorHint);
  expect(error.hint).not.toMatch(/polic|manifest|`grants`/);
});

// One decision over 100 and over 10,000 rules, without and with its sealed proof; Cedar on the same rules in the same process.
import { blake3Hash, policy as policyOf, type Policy, type PolicyRule } from "@keyhole/kernel";
import { createProofKey, proofSigner } from "@keyhole/kernel/policy";
import { atMost } from "../../bench/bar.ts";
import { byProcessor, processorMs } from "../../bench/processor.ts";
import * as cedar from "@cedar-policy/cedar-wasm/nodejs";
import type { DecisionInput } from "../../../packages/kernel/src/policy/decision/condition.ts";
import { decide } from "../../../packages/kernel/src/policy/decision/decide.ts";
import type { ReasonCode } from "../../../packages/kernel/src/policy/proof/proof.ts";
import { sealProof } from "../../../packages/kernel/src/policy/proof/seal-proof.ts";

const rounds = 15;
const tools = 40;
const callers = 25;
const effects = ["allow", "ask", "deny"] as const;

/** A policy as it grows: rules about a tool, about a caller of a tool, and about amounts. */
function ruleOf(index: number): PolicyRule {
  const tool = `tool_${index % tools}`;
  const caller = `caller_${Math.floor(index / tools)}`;
  const amount = { at: "/amount", moreThan: 100 + (index % 7) };
  const when =
    index % 3 === 0
      ? { tool: [tool], caller: [caller], arguments: [amount] }
      : index % 3 === 1
        ? { tool: [tool], caller: [caller] }
        : { tool: [tool], arguments: [{ at: "/account", equals: `account_${index}` }, amount] };
  return { id: `rule-${index}`, effect: effects[index % effects.length]!, when, reason: "Because." };
}

/** @param isMixed In another order: 7,919 is prime. */
function policyOf(count: number, isMixed = false): Policy {
  const loaded = policyOf({
    version: "1",
    posture: "standard",
    rules: Array.from({ length: count }, (_, index) => ruleOf(isMixed ? (index * 7_919) % count : index)),
  });
  if (!loaded.ok) throw new Error(loaded.error.message);
  return loaded.value;
}

const inputs: readonly DecisionInput[] = Array.from({ length: 500 }, (_, index) => ({
  manifest: { name: `tool_${index % tools}`, version: "1.0.0", tier: 1, effects: [], category: "money" },
  caller: `caller_${index % callers}`,
  sessionId: `session_${index % 50}`,
  mode: "NORMAL",
  input: { amount: 50 + (index % 100), account: `account_${(index * 7) % 10_000}` },
  inputBytes: 40,
  granted: [],
  nowMs: Date.UTC(2026, 0, 1),
  labels: [],
}));

const digest = `blake3:${"0".repeat(64)}`;
function prove(policy: Policy, input: DecisionInput): ReturnType<typeof sealProof> {
  const verdict = decide(policy, input, () => 0);
  return sealProof(
    {
      proofId: "0196f1a0-0000-7000-8000-000000000000",
      callId: "0196f1a0-0000-7000-8000-000000000000",
      parentProofId: null,
      decidedAt: "2026-01-01T00:00:00.000Z",
      traceparent: "00-00000000000000000000000000000001-0000000000000001-01",
      decision: verdict.decision,
      enforced: verdict.enforced,
      reasonCode: verdict.reasonCode satisfies ReasonCode,
      tool: `${input.manifest.name}@1.0.0`,
      toolHash: digest,
      inputHash: digest,
      grantHash: digest,
      policyHash: policy.hash,
      policyVersion: "1",
      posture: policy.document.posture,
      mode: input.mode,
      tier: input.manifest.tier,
      determining: verdict.determining.map(({ rule, hash }) => ({ ruleId: rule.id, ruleHash: hash })),
      errors: verdict.errors,
      considered: verdict.considered,
      stateReads: verdict.stateReads,
      obligations: verdict.obligations,
      approval: null,
    },
    blake3Hash,
  );
}

/** Median over rounds of the mean over all inputs, in µs of processor time. */
function measure(run: (input: DecisionInput) => unknown, times: number): number {
  const figures: number[] = [];
  for (let round = 0; round < rounds + 3; round++) {
    const startMs = processorMs();
    for (let i = 0; i < times; i++) run(inputs[i % inputs.length]!);
    if (round >= 3) figures.push(((processorMs() - startMs) * 1_000) / times);
  }
  return figures.toSorted((a, b) => a - b)[figures.length >> 1]!;
}

/** Cedar knows permit and forbid: `ask` is a permit here, which makes its work no harder. */
function cedarPolicies(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const { id, effect, when } = ruleOf(index);
      const principal = when.caller ? `principal == Caller::"${when.caller[0]}"` : "principal";
      const conditions = (when.arguments ?? []).map((each) =>
        "moreThan" in each
          ? `context.amount > ${each.moreThan}`
          : `context.account == "${"equals" in each ? String(each.equals) : ""}"`,
      );
      const guard = conditions.length > 0 ? ` when { ${conditions.join(" && ")} }` : "";
      return [
        id,
        `${effect === "deny" ? "forbid" : "permit"}(${principal}, action == Action::"call", resource == Tool::"${when.tool?.[0]}")${guard};`,
      ];
    }),
  );
}

function cedarDecision(name: string): (input: DecisionInput) => unknown {
  return ({ caller, manifest, input }) =>
    cedar.statefulIsAuthorized({
      principal: { type: "Caller", id: caller },
      action: { type: "Action", id: "call" },
      resource: { type: "Tool", id: manifest.name },
      context: input as Record<string, never>,
      preparsedPolicySetId: name,
      entities: [],
    });
}

const [small, large, mixed] = [policyOf(100), policyOf(10_000), policyOf(10_000, true)];
const at100 = measure((input) => decide(small, input, () => 0), 20_000);
const at10000 = measure((input) => decide(large, input, () => 0), 20_000);
const atMixed = measure((input) => decide(mixed, input, () => 0), 20_000);
const sealed = measure((input) => prove(small, input), 5_000);
const unnamed = policyOf({
  version: "1",
  posture: "standard",
  rules: Array.from({ length: 100 }, (_, index) => ({
    ...ruleOf(index),
    when: { arguments: [{ at: "/amount", moreThan: index }] },
  })),
});
if (!unnamed.ok) throw new Error(unnamed.error.message);
const atUnnamed = measure((input) => decide(unnamed.value, input, () => 0), 5_000);
const signer = await proofSigner(await createProofKey());
const proof = prove(small, inputs[0]!);
const startMs = performance.now();
for (let i = 0; i < 1_000; i++) await signer.sign(proof);
const signedUs = performance.now() - startMs;

const line = (name: string, us: number, note = "", clock = byProcessor): void =>
  console.log(`${name.padEnd(38)} ${us.toFixed(2).padStart(9)} µs ${clock} ${note}`);
line("decision, 100 rules", at100, atMost(at100, 5, "µs"));
line("decision, 10,000 rules", at10000, `${(at10000 / at100).toFixed(2)} × that ${atMost(at10000 / at100, 2)}`);
line("the same in another order", atMixed, `${(atMixed / at100).toFixed(2)} × that ${atMost(atMixed / at100, 2)}`);
line("decision, 100 rules that name nothing", atUnnamed, atMost(atUnnamed, 5, "µs"));
line("decision and sealed proof, 100 rules", sealed, atMost(sealed, 40, "µs"));
line("Ed25519 signature over a proof", signedUs, "", "by the clock");
for (const count of [100, 10_000]) {
  const name = `bench-${count}`;
  const parsed = cedar.preparsePolicySet(name, { staticPolicies: cedarPolicies(count) });
  if (parsed.type !== "success") throw new Error(JSON.stringify(parsed).slice(0, 500));
  const us = measure(cedarDecision(name), count === 100 ? 500 : 4);
  line(
    `Cedar, ${count.toLocaleString("en")} rules, parsed before`,
    us,
    `${(us / (count === 100 ? at100 : at10000)).toFixed(0)} × ours`,
  );
}

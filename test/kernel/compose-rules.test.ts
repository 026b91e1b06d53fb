import {
  type CompiledPolicy,
  compilePolicy,
  createKernel,
  type Extension,
  type Kernel,
  policyDocuments,
  policyRules,
} from "@keyhole/kernel";
import { Families, netRead, netWrite } from "@keyhole/kernel/families";
import { inlineHost } from "@keyhole/kernel/inline";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { echo } from "../support/kernel.ts";

const families = new Families([netRead, netWrite]);
const input = { message: "hello" };

function compiled(more: object): CompiledPolicy {
  const result = compilePolicy({ version: "1", posture: "permissive", ...more }, {}, sha256Hash, families);
  if (!result.ok) throw new TypeError(result.error.message);
  return JSON.parse(JSON.stringify(result.value)) as CompiledPolicy;
}

async function kernelWith(policy: unknown, extensions: readonly Extension[]): Promise<Kernel> {
  const options = { hash: sha256Hash, clock: new FakeClock(), inline: inlineHost(), families };
  const kernel = await createKernel({ ...options, policy, extensions });
  expect(kernel.registerTrusted(echo)).toMatchObject({ ok: true });
  return kernel;
}

const deny = { id: "no", effect: "deny", when: { tool: ["echo"] }, reason: "No echo." };
const rate = { rate: { calls: 1, windowMs: 60_000 } };
const ruled = [
  ["a rule about calls", { rules: [deny] }, "/rules"],
  ["a rule about requests", { rules: [{ ...deny, when: { host: ["a.example.com"] } }] }, "/rules"],
  ["a rule that allows", { rules: [{ ...deny, effect: "allow" }] }, "/rules"],
  ["a rate", { tools: { read: {}, echo: rate } }, "/tools/echo/rate"],
] as const;

describe("a kernel without policyRules()", () => {
  it("decides by posture, grants and the policy's word on each tool", async () => {
    const kernel = await kernelWith(compiled({ tools: { echo: { sizes: { inputBytes: 30 } } } }), []);
    expect(await kernel.call("echo", input)).toMatchObject({ ok: true, proof: { reasonCode: "posture" } });
    const large = await kernel.call("echo", { message: "x".repeat(40) });
    expect(large).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" }, proof: { reasonCode: "tool-size" } });
  });

  it.each(ruled)("takes no policy that has %s", async (_, more, path) => {
    await expect(kernelWith(compiled(more), [])).rejects.toThrow(`INVALID_POLICY at ${path}`);
    const kernel = await kernelWith(compiled({}), []);
    const before = kernel.policyHash;
    expect(await kernel.setPolicy(compiled(more))).toMatchObject({
      ok: false,
      error: { code: "INVALID_POLICY", path, hint: expect.stringContaining("policyRules()") },
    });
    expect(kernel.policyHash).toBe(before);
  });

  it("takes no compiled policy whose rules were cut off", async () => {
    const { rules: _, ...document } = compiled({ rules: [deny] }).document;
    const cut = { ...compiled({ rules: [deny] }), document };
    await expect(kernelWith(cut, [])).rejects.toThrow("INVALID_POLICY at /digest");
  });
});

describe.each([
  ["policyRules()", [policyRules()]],
  ["policyDocuments()", [policyDocuments()]],
  ["both", [policyDocuments(), policyRules()]],
])("a kernel with %s", (_, extensions) => {
  it("keeps to the rules and rates of a compiled policy", async () => {
    const denying = await kernelWith(compiled({ rules: [deny] }), extensions);
    expect(await denying.call("echo", input)).toMatchObject({ ok: false, proof: { reasonCode: "rule" } });
    const rated = await kernelWith(compiled({ tools: { echo: rate } }), extensions);
    expect(await rated.call("echo", input)).toMatchObject({ ok: true });
    expect(await rated.call("echo", input)).toMatchObject({ ok: false, error: { code: "RATE_LIMITED" } });
  });
});

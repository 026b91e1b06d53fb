import { createKernel, policy, type Setup, type SetupErrorCode, type ToolPackage } from "@keyhole/kernel";
import { echo, toolOf } from "../support/kernel.ts";
import { type AnyTool, registerAny } from "../support/registered.ts";
import { packageOf } from "./scenario-parts.ts";

async function registering(...tools: readonly AnyTool[]): Promise<Setup<unknown>> {
  const kernel = await createKernel();
  const results = tools.map((tool) => registerAny(kernel, tool));
  return results.at(-1)!;
}

/** One way to each code that setting up a kernel can end with. */
export const setupScenarios = {
  ALREADY_REGISTERED: () => registering(echo, echo),
  INVALID_MANIFEST: () =>
    registering(toolOf(() => 1, { effects: [], capabilities: [{ kind: "net.read", hosts: ["example.com"] }] })),
  PACKAGE_HASH_MISMATCH: () => registering({ ...packageOf(), hash: "blake3:00" }),
  UNTRUSTED_TOOL: async () => (await createKernel()).register(echo as object as ToolPackage),
  INVALID_POLICY: async () => policy({ version: "1", posture: "relaxed" }),
} satisfies Record<SetupErrorCode, () => Promise<Setup<unknown>>>;

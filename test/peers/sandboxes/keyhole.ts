import { blake3Hash, createKernel, type IsolateHost, packageHash, type ToolPackage } from "@keyhole/kernel";
import { type Sandbox, SPIN_LIMIT_MS } from "./sandbox.ts";

const manifest = {
  name: "echo",
  version: "1.0.0",
  description: "Returns its input, or never.",
  input: { type: "object" },
  output: { kind: "json" },
  effects: [],
  capabilities: [],
  determinism: "pure",
  tier: 0,
  bounds: { callsPerHour: 1_000_000 },
  source: "module",
} as unknown as ToolPackage["manifest"];
const code = "export default { code: { execute(input) { while (input.spins); return input; } } };";
const echo: ToolPackage = { manifest, code, hash: packageHash(manifest, code, blake3Hash)! };
export const trusted: readonly string[] = [echo.hash];

/** `kernel.call`: schema, policy, log and proof of each call. A tool has one isolate, so each sandbox has a kernel. */
export function keyhole(hostOf: () => Promise<IsolateHost> | IsolateHost): Sandbox {
  return {
    async open() {
      const kernel = await createKernel({ host: await hostOf(), policy: { version: "1", posture: "permissive" } });
      const registered = kernel.register(echo);
      if (!registered.ok) throw new Error(registered.error.message);
      return {
        async call(value) {
          const result = await kernel.call("echo", value, { cache: false, sessionId: "bench" });
          if (!result.ok) throw new Error(result.error.message);
          return result.data;
        },
        async spin() {
          const result = await kernel.call(
            "echo",
            { spins: true },
            { bounds: { timeoutMs: SPIN_LIMIT_MS }, sessionId: "bench" },
          );
          if (result.ok || result.error.code !== "TIMEOUT") throw new Error("The loop ended otherwise.");
        },
        close: () => kernel.close(),
      };
    },
  };
}

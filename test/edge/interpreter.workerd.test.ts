import { runInDurableObject } from "cloudflare:test";
import { kernelObject } from "@keyhole/edge";
import type { CallResult } from "@keyhole/kernel";
import { builtinTools } from "@keyhole/worker-host/tools";
import { describe, expect, it } from "vitest";
import { builtTestEngine } from "../wasm/built-engine.ts";
import { bindings } from "./bindings.ts";

/** A service whose account has no dynamic Workers. */
const { LOADER: _, ...withoutLoader } = bindings;

/** Calls a tool in a kernel of its own. */
function call(tenant: string, tool: string, input: unknown, withEngine = true): Promise<CallResult> {
  const Configured = kernelObject({
    tools: builtinTools,
    policy: { version: "1", posture: "standard" },
    ...(withEngine && { engine: builtTestEngine() }),
  });
  return runInDurableObject(bindings.KERNEL.getByName(tenant), async (_object, state) => {
    const object = new Configured(state, withoutLoader);
    // As the gateway names the sender.
    const identity = encodeURIComponent(JSON.stringify({ subject: "alice", scopes: ["tools:call"] }));
    const response = await object.fetch(
      new Request(`https://edge.example/v1/tools/${tool}/calls`, {
        method: "POST",
        body: JSON.stringify({ input }),
        headers: { "content-type": "application/json", "keyhole-identity": identity },
      }),
    );
    return response.json();
  });
}

describe("a kernel object without dynamic Workers", () => {
  it("runs tools in the interpreter, which counts", async () => {
    const result = await call("interpreted", "calculator", { expression: "6*7" });
    expect(result).toMatchObject({ ok: true, data: { value: 42 } });
    expect(result.ok && result.meta.fuelUsed).toBeGreaterThan(1_000);
  });

  it("says that no tool can run where there is no engine either", async () => {
    expect(await call("nothing", "calculator", { expression: "1" }, false)).toMatchObject({
      code: "MISCONFIGURED",
      detail: expect.stringContaining("the interpreter is missing"),
    });
  });
});

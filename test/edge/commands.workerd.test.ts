import { runInDurableObject } from "cloudflare:test";
import { kernelObject, type KernelObjectOptions } from "@keyhole/edge";
import type { CallResult } from "@keyhole/kernel";
import { processPackage } from "@keyhole/worker-host/process";
import { describe, expect, it } from "vitest";
import bytes from "keyhole:../../packages/playground/src/tools/primes/primes.wasm?bytes";
import built from "keyhole:../../packages/playground/src/tools/primes/primes.wasm?metered";
import primes from "keyhole:../../packages/playground/src/tools/primes/primes.wasm";
import { builtTestEngine } from "../wasm/built-engine.ts";
import { bindings } from "./bindings.ts";

/** A service whose account has no dynamic Workers. */
const { LOADER: _, ...withoutLoader } = bindings;

const command = processPackage({
  name: "primes_command",
  version: "1.0.0",
  description: "Counts primes, by a command.",
  process: { command: "primes" },
  input: { type: "object" },
  output: { kind: "json" },
});

/** Calls a tool in a kernel of its own. */
function call(
  tool: "primes" | "primes_command",
  input: unknown,
  env: Partial<typeof bindings>,
  options: Partial<KernelObjectOptions>,
): Promise<CallResult> {
  const Configured = kernelObject({
    tools: tool === "primes" ? [primes] : [command],
    policy: {
      version: "1",
      posture: "permissive",
      grants: [{ tool: "*", capability: { kind: "process.spawn", commands: [{ command: "primes" }] } }],
      rules: [{ id: "run", effect: "allow", when: {}, reason: "A test." }],
    },
    ...options,
  });
  return runInDurableObject(bindings.KERNEL.getByName(crypto.randomUUID()), async (_object, state) => {
    const object = new Configured(state, env as typeof bindings);
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

const counted = { ok: true, data: { count: 25, last: 97 } };

describe("a service that offers a command", () => {
  it("runs it in a dynamic Worker", async () => {
    const result = await call("primes_command", { limit: 100 }, bindings, { commands: { primes: { module: bytes } } });
    expect(result).toMatchObject({ ...counted, effects: ["process.spawn"], meta: { fuelUsed: 12_667 } });
  });

  it("runs it on its own thread, as the build has metered it, where there are none", async () => {
    const options = { engine: builtTestEngine(), commands: { primes: { module: built } } };
    const result = await call("primes_command", { limit: 100 }, withoutLoader, options);
    expect(result).toMatchObject({ ...counted, meta: { fuelUsed: 12_667 } });
    expect(await call("primes_command", { limit: 50_000_000 }, withoutLoader, options)).toMatchObject({
      result: { error: { code: "BOUNDS_EXCEEDED", message: expect.stringContaining("fuel of 2000000000") as string } },
    });
  });

  it.each([
    ["a path", { "../primes": { module: bytes } }],
    ["no module", { primes: { module: new Uint8Array(8) } }],
    ["a compiled module, which reaches no dynamic Worker", { primes: { module: built } }],
  ])("says that it is misconfigured: %s", async (_, commands) => {
    expect(await call("primes_command", {}, bindings, { commands })).toMatchObject({ code: "MISCONFIGURED" });
  });
});

describe("a service without dynamic Workers", () => {
  it("runs a tool whose module the build has metered", async () => {
    const result = await call("primes", { limit: 100 }, withoutLoader, { engine: builtTestEngine(), modules: [built] });
    expect(result).toMatchObject({ ...counted, meta: { fuelUsed: 12_667 } });
  });

  it("says of any other that it cannot be compiled", async () => {
    const result = await call("primes", { limit: 100 }, withoutLoader, { engine: builtTestEngine() });
    expect(result).toMatchObject({
      code: "TOOL_ERROR",
      detail: expect.stringContaining("does not compile") as string,
    });
  });
});

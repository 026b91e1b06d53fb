import { createKernel, defineTool } from "@keyhole/kernel";
import { checkPolicy, composeKernel } from "@keyhole/kernel/compose";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { describe, expect, it } from "vitest";
import { withoutCommands } from "../../packages/worker-host/src/process/no-commands.ts";
import { moduleHost, packed } from "../support/module-host.ts";

const capability = { kind: "process.spawn", commands: [{ command: "ls" }] } as const;
const policy = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "*", capability }],
} as const;

const spawns = defineTool({
  name: "spawns",
  version: "1.0.0",
  description: "Runs a command.",
  tier: 1,
  effects: ["process.spawn"],
  determinism: "external",
  capabilities: [capability],
  input: { type: "object" },
  output: { kind: "json" },
  execute: async (_, { spawn }) => (await spawn("ls")).stderr,
});

describe("a host without commands", () => {
  it("refuses each request for one, in a kernel that knows the kind", async () => {
    const kernel = await createKernel({ host: withoutCommands(moduleHost(spawns)), policy });
    expect(kernel.register(packed(spawns))).toMatchObject({ ok: true });
    expect(await kernel.call("spawns", {})).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", message: "This host does not serve process.spawn." },
    });
  });

  it("brings no kind: a kernel of few kinds refuses the tool and the policy that name it", async () => {
    const options = { host: withoutCommands(moduleHost(spawns)), hash: sha256Hash, checkPolicy };
    await expect(composeKernel({ ...options, policy })).rejects.toThrow("knows no kind");
    const kernel = await composeKernel(options);
    const refused = { ok: false, error: { code: "INVALID_MANIFEST" } };
    expect(kernel.register(packed(spawns))).toMatchObject(refused);
  });
});

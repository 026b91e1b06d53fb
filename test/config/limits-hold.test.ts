import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, PolicyDocument } from "@keyhole/kernel";
import { type ConfigFile, loadConfig, openConfigured } from "@keyhole/worker-host/node/config";
import { afterAll, describe, expect, it } from "vitest";
import { configuredParts } from "../../packages/edge/src/object/configured.ts";
import { type ChosenConfig, chooseConfig } from "../../packages/keyhole/src/command/config.ts";
import { choosePolicy } from "../../packages/keyhole/src/command/policy/read-policy.ts";
import { ioIn } from "../support/command-files.ts";

const root = mkdtempSync(join(tmpdir(), "keyhole-limits-"));
afterAll(() => rmSync(root, { recursive: true }));

const limits = { deploy: { callsPerHour: 60 } };
const policyOf = (name: string) =>
  ({
    version: "1",
    posture: "strict",
    rules: [{ id: name, effect: "deny", when: { tool: ["deploy"] }, reason: "Not here." }],
  }) as const satisfies PolicyDocument;
const usual = policyOf("usual");

async function open(
  files: JsonObject,
  config: JsonObject,
): Promise<{ folder: string; config: ConfigFile; chosen: ChosenConfig }> {
  const folder = mkdtempSync(join(root, "case-"));
  for (const [name, content] of Object.entries({ ...files, "keyhole.config.json": { version: "1", ...config } }))
    writeFileSync(join(folder, name), JSON.stringify(content));
  const loaded = await loadConfig("keyhole.config.json", folder);
  if (!loaded.ok) throw new Error(loaded.message);
  return { folder, config: loaded.value, chosen: await chooseConfig({}, ioIn(folder)) };
}

/** Of each place of a policy, in the order of their rank, whether it has one. */
const places = Array.from({ length: 8 }, (_, bits) => {
  return { named: (bits & 1) !== 0, configured: (bits & 2) !== 0, inFolder: (bits & 4) !== 0 };
});

describe.each([true, false])("the policy of a command, with limits: %s", (hasLimits) => {
  it.each(places)("is the first one there is: %j", async ({ named, configured, inFolder }) => {
    const { folder, chosen } = await open(
      { ...(named && { "named.json": policyOf("named") }), ...(inFolder && { "policy.json": usual }) },
      { ...(hasLimits && { limits }), ...(configured && { policy: policyOf("configured") }) },
    );
    const winner = named ? "named" : configured ? "configured" : inFolder ? "usual" : undefined;
    const { document } = await choosePolicy(named ? "named.json" : undefined, ioIn(folder), chosen);
    expect(document).toEqual({
      ...(winner === undefined ? { version: "1", posture: "standard" } : policyOf(winner)),
      ...(hasLimits && { tools: { deploy: { bounds: limits.deploy } } }),
    });
  });
});

describe("two limits of one tool", () => {
  const bounded: PolicyDocument = { ...usual, tools: { deploy: { bounds: { outputBytes: 100 } } } };
  const says = "The policy bounds this tool too. Keep one of the two.";

  it("are refused by the command", async () => {
    const { folder, chosen } = await open({ "policy.json": bounded as unknown as JsonObject }, { limits });
    await expect(choosePolicy(undefined, ioIn(folder), chosen)).rejects.toThrow(`keyhole.config.json:1:`);
    await expect(choosePolicy("policy.json", ioIn(folder), chosen)).rejects.toThrow(says);
  });

  it("are refused by a program", async () => {
    const { config } = await open({}, { limits });
    await expect(openConfigured(config, [], { policy: bounded })).rejects.toThrow(says);
    const { kernel, close } = await openConfigured(config, [], { policy: usual });
    const { kernel: bare, close: closeBare } = await openConfigured((await open({}, {})).config, [], { policy: usual });
    expect(kernel.policyHash).not.toBe(bare.policyHash);
    await Promise.all([close(), closeBare()]);
  });

  it("are refused at the edge", () => {
    const { policy } = configuredParts({ version: "1", limits });
    expect(() => policy(bounded, usual)).toThrow(says);
    expect(policy(undefined, usual)).toEqual({ ...usual, tools: { deploy: { bounds: limits.deploy } } });
  });
});

it("a limit holds for a tool of any name", async () => {
  for (const name of ["constructor", "valueof", "a"]) {
    const bounded = { version: "1", limits: { deploy: { callsPerHour: 60 }, [name]: { callsPerHour: 1 } } } as const;
    const { policy } = configuredParts(bounded);
    expect(policy(undefined, usual).tools).toEqual({
      deploy: { bounds: limits.deploy },
      [name]: { bounds: { callsPerHour: 1 } },
    });
  }
});

describe("limits beside a policy that only observes", () => {
  const observing: PolicyDocument = { ...usual, enforcement: "observe" };
  const says = "The policy only observes, so no limit would hold.";

  it("are refused, wherever the policy stands", async () => {
    const own = open({}, { limits, policy: observing as unknown as JsonObject });
    await expect(own).rejects.toThrow(says);
    const { config, folder, chosen } = await open({ "policy.json": observing as unknown as JsonObject }, { limits });
    await expect(choosePolicy(undefined, ioIn(folder), chosen)).rejects.toThrow(says);
    await expect(openConfigured(config, [], { policy: observing })).rejects.toThrow(says);
    expect(() => configuredParts({ version: "1", limits }).policy(observing, usual)).toThrow(says);
  });

  it("are none: the policy observes", async () => {
    const { config } = await open({}, { policy: observing as unknown as JsonObject });
    const { close } = await openConfigured(config);
    await close();
  });
});

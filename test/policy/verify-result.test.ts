import { createKernel, defineTool, memorySink } from "@keyhole/kernel";
import { createProofKey, proofSigner, publicKeyOf } from "@keyhole/kernel/policy";
import { beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { checkpointOf } from "../support/forged-log.ts";
import { ioOf } from "../support/command-files.ts";

type Result = Record<string, unknown> & { data: { to: string } };

let result: Result;
let log: readonly unknown[];
let checkpoint: unknown;
let keys: unknown;
beforeAll(async () => {
  const key = await createProofKey();
  keys = publicKeyOf(key);
  const sink = memorySink();
  const signer = await proofSigner(key);
  const kernel = await createKernel({ sink, signer, policy: { version: "1", posture: "permissive" } });
  kernel.registerTrusted(
    defineTool({
      name: "pay",
      version: "1.0.0",
      description: "Under test.",
      input: { type: "object" },
      output: { kind: "json" },
      execute: () => ({ to: "ada" }),
    }),
  );
  result = JSON.parse(JSON.stringify(await kernel.call("pay", { to: "ada" }))) as Result;
  const events = await kernel.audit.read();
  [log, checkpoint] = [events, await checkpointOf(key, events)];
  await kernel.close();
});

const verify = async (document: unknown, ...words: readonly string[]) =>
  runCommand(
    ["verify", "result.json", "--keys", "keys.json", ...words],
    ioOf({ "result.json": document, "keys.json": keys, "audit.json": log, "c.json": checkpoint }),
  );

describe("keyhole verify RESULT", () => {
  it("holds the whole result against the log, and says what it cannot hold without one", async () => {
    const whole = await verify(result, "--log", "audit.json", "--checkpoint", "c.json");
    expect([whole.exitCode, whole.output]).toEqual([0, expect.stringMatching(/^✓ level 1 {2}result$/m)]);
    const alone = await verify(result);
    expect([alone.exitCode, alone.output]).toEqual([
      3,
      expect.stringMatching(/^Intact, but unvouched: outcome, data and effects of the result stand in the log/m),
    ]);
  });

  it.each<[string, (whole: Result) => object, boolean]>([
    ["other data", (whole) => ({ ...whole, data: { to: "mallory" } }), true],
    ["another hash", (whole) => ({ ...whole, hash: `${String(whole["hash"]).slice(0, -1)}0` }), true],
    ["other effects", (whole) => ({ ...whole, effects: ["net.write"] }), true],
    ["another outcome", (whole) => ({ ...whole, ok: false, error: { code: "POLICY_DENIED" } }), true],
    ["another tool", (whole) => ({ ...whole, tool: "steal@1.0.0" }), false],
    ["another call", (whole) => ({ ...whole, callId: "x" }), false],
  ])("calls %s broken", async (_, forge, needsLog) => {
    const words = needsLog ? ["--log", "audit.json"] : [];
    const { exitCode, output } = await verify(forge(result), ...words);
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/^Broken: the /m)]);
    expect(JSON.parse((await verify(forge(result), ...words, "--json")).output)).toMatchObject({ verdict: "broken" });
  });
});

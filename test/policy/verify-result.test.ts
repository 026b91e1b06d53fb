import { createFullKernel, defineTool, memorySink } from "@keyhole/kernel";
import { createProofKey, proofSigner, publicKeyOf } from "@keyhole/kernel/policy";
import { beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioOf } from "../support/command-files.ts";

type Result = Record<string, unknown> & { data: { to: string } };

let result: Result;
let log: readonly unknown[];
let keys: unknown;
beforeAll(async () => {
  const key = await createProofKey();
  keys = publicKeyOf(key);
  const sink = memorySink();
  const signer = await proofSigner(key);
  const kernel = await createFullKernel({ sink, signer, policy: { version: "1", posture: "permissive" } });
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
  log = await kernel.audit.read();
  await kernel.close();
});

const verify = async (document: unknown, ...words: readonly string[]) =>
  runCommand(
    ["verify", "result.json", "--keys", "keys.json", ...words],
    ioOf({ "result.json": document, "keys.json": keys, "audit.json": log }),
  );

describe("keyhole verify RESULT", () => {
  it("holds the whole result against the log, and says what it cannot hold without one", async () => {
    expect(await verify(result, "--log", "audit.json")).toMatchObject({ exitCode: 0 });
    const alone = await verify(result);
    expect([alone.exitCode, alone.output]).toEqual([
      2,
      expect.stringContaining("Not checked: Outcome, data and effects"),
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
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/^Broken: The /m)]);
    expect(JSON.parse((await verify(forge(result), ...words, "--json")).output)).toMatchObject({ verdict: "broken" });
  });
});

import { createKernel, type JsonObject, type JsonValue } from "@keyhole/kernel";
import { createProofKey, proofSigner, publicKeyOf, readEvidence, verifyEvidence } from "@keyhole/kernel/policy";
import { beforeAll, describe, expect, it } from "vitest";
import { wireResult } from "../../packages/edge/src/app/wire.ts";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { readGiven } from "../../packages/playground/src/verify/read.ts";
import { play, scenarios } from "../docs/scenarios.ts";
import { ioOf } from "../support/command-files.ts";
import { checkpointOf } from "../support/forged-log.ts";
import { toolOf } from "../support/kernel.ts";

const asJson = <T>(value: unknown): T => JSON.parse(JSON.stringify(value)) as T;

/** A refused input, a failed run and a success, with their log. */
async function recorded() {
  const key = await createProofKey();
  const kernel = await createKernel({
    policy: { version: "1", posture: "permissive" },
    signer: await proofSigner(key),
  });
  const throws = (): never => {
    throw new Error("no");
  };
  const closed = { type: "object", additionalProperties: false } as const;
  kernel.registerTrusted(toolOf(() => 1, { name: "one", input: closed }));
  kernel.registerTrusted(toolOf(throws, { name: "broken" }));
  const call = async (name: string, input: JsonObject): Promise<JsonObject> =>
    asJson<JsonObject>(wireResult(await kernel.call(name, input)));
  const results = {
    refused: await call("one", { more: 1 }),
    unknown: await call("gone", {}),
    failed: await call("broken", {}),
    success: await call("one", {}),
  };
  const log = await kernel.audit.read();
  await kernel.close();
  return { ...results, log, checkpoint: await checkpointOf(key, log), keys: publicKeyOf(key) };
}

let own: Awaited<ReturnType<typeof recorded>>;
beforeAll(async () => void (own = await recorded()));

async function verify(result: JsonValue, ...words: readonly string[]): Promise<string> {
  const { log, checkpoint, keys } = own;
  const files = { "result.json": result, "audit.json": log, "c.json": checkpoint, "keys.json": keys };
  const { exitCode, output } = await runCommand(["verify", "result.json", ...words], ioOf(files));
  return `${exitCode} ${output.trimEnd().split("\n").at(-1)}`;
}

const withLog = ["--log", "audit.json"];
const vouched = [...withLog, "--checkpoint", "c.json", "--keys", "keys.json"];
const withoutProof = ({ proof: _, ...result }: JsonObject): JsonObject => result;

describe("a call that failed before a decision", () => {
  it.each(["refused", "unknown"] as const)("is as true as its log: %s", async (name) => {
    const result = own[name];
    expect(result["proof"]).toBeUndefined();
    expect(await verify(result)).toMatch(/^2 Could not tell: the call failed before a decision/);
    expect(await verify(result, ...withLog)).toMatch(/^3 Intact, but unvouched: no trusted key vouches for the log/);
    expect(await verify(result, ...vouched)).toMatch(/^0 Verified: key /);
  });

  it("has the same verdict in the page", async () => {
    const given = { keys: "", events: "", checkpoints: "", policy: "", tool: "", input: "" };
    const read = await readGiven({ ...given, proof: JSON.stringify(own.refused) });
    expect(read.ok && (await verifyEvidence(read.value)).verdict).toBe("inconclusive");
  });

  it.each<[string, (result: JsonObject) => JsonObject]>([
    ["another error", (result) => ({ ...result, error: { ...(result["error"] as JsonObject), message: "Forged." } })],
    ["another tool", (result) => ({ ...result, tool: "other@1.0.0" })],
    ["another outcome", () => ({ ...own.refused, callId: own.success["callId"]!, tool: own.success["tool"]! })],
  ])("is broken where the log has %s", async (_, forge) => {
    expect(await verify(forge(own.refused), ...withLog)).toMatch(/^1 Broken: the log has another /);
  });

  it("is intact, but unvouched, with a member that the log does not record", async () => {
    expect(await verify({ ...own.refused, note: 1 }, ...vouched)).toMatch(/^3 .*: note\.$/);
    expect(await verify({ ...own.refused, callId: "other" }, ...vouched)).toMatch(/^3 /);
  });
});

describe("a file without its proof", () => {
  it("stays broken where its call was decided", async () => {
    for (const words of [[], withLog, vouched]) {
      expect(await verify(withoutProof(own.failed), ...words)).toMatch(/^1 Broken: a call that ends with TOOL_ERROR/);
      expect(await verify(withoutProof(own.success), ...words)).toMatch(/^1 Broken: /);
    }
    const renamed: JsonObject = { ...withoutProof(own.success), ok: false, error: own.refused["error"]! };
    expect(await verify(renamed)).toMatch(/^1 Broken: a failed call has no output/);
    const { data: _, hash: __, ...bare } = renamed;
    expect(await verify(bare, ...withLog)).toMatch(/^1 Broken: the log has another outcome/);
  });

  it("stays broken where a forged error stands beside the proof", async () => {
    const forged = { ...own.failed, error: own.refused["error"]! };
    expect(await verify(forged, ...withLog)).toMatch(/^1 Broken: the log has another error/);
    expect(await verify({ ...own.failed, proof: { ...(own.failed["proof"] as JsonObject), caller: "eve" } })).toMatch(
      /^1 Broken: /,
    );
  });
});

it.each(Object.entries(scenarios))("no honest end with %s is broken", async (_, list) => {
  for (const scenario of list) {
    const { result } = await play(scenario);
    const read = readEvidence(asJson<JsonValue>(wireResult(result)));
    if (!read.ok) throw new Error(read.message);
    const { verdict } = await verifyEvidence(read.value);
    expect(verdict).toBe(result.proof ? "unvouched" : "inconclusive");
  }
});

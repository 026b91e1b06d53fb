import type { AuditEvent, Broker, CallResult, JsonValue, Kernel, ToolContext } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { explain, verifyProof } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

const policy = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "subject", capability: { kind: "fs.read", paths: ["docs/**"] } }],
  rules: [{ id: "no-keys", effect: "deny", when: { path: ["**/keys"] }, reason: "Keys stay here." }],
} as const;

/** Has no file, and takes paths of any length. */
const noFiles: Broker = {
  families: [fsRead],
  needs: ({ arguments: { path } }) => ({ ok: true, needs: [{ kind: "fs.read", path: String(path) }] }),
  serve: async () => ({ ok: false, error: { code: "NOT_FOUND", message: "No file.", hint: "" } }),
};

type Read = (path: string) => Promise<unknown>;

interface Ran {
  readonly kernel: Kernel;
  readonly result: CallResult;
  readonly decided: readonly AuditEvent[];
  readonly verify: () => ReturnType<typeof verifyProof>;
}

async function run(body: (read: Read, kernel: Kernel) => Promise<JsonValue>): Promise<Ran> {
  const { kernel, events } = await openKernel({ policy, brokers: [noFiles] });
  const tool = toolOf(async (_: never, { files }: ToolContext) => body((path) => files.read(path), kernel), {
    effects: ["fs.read"],
    determinism: "external",
    capabilities: [{ kind: "fs.read", paths: ["**"] }],
  });
  const registered = kernel.registerTrusted(tool);
  const { manifest } = registered.ok ? registered.value : expect.unreachable(registered.error.message);
  const result = await kernel.call("subject", {});
  const log = await events();
  const evidence = { events: log, policy, tool: { manifest }, input: {} };
  return {
    kernel,
    result,
    decided: log.filter(({ type }) => type === "policy.decided"),
    verify: () => verifyProof(result.proof, evidence),
  };
}

const reading =
  (path: string) =>
  async (read: Read): Promise<null> => {
    await read(path);
    return null;
  };

const passed = [
  { name: "digest", outcome: "passed" },
  { name: "signature", outcome: "skipped" },
  { name: "inclusion", outcome: "unvouched" },
  { name: "re-evaluation", outcome: "passed" },
  { name: "discharge", outcome: "unvouched" },
];

describe("a call that a refused request ended", () => {
  it.each([
    ["which no grant covers", "src/a", "not-granted"],
    ["which a rule denies", "docs/keys", "forbidden"],
  ])("carries a denial of the request %s, whose parent is the call's own proof", async (_, target, reason) => {
    const { result, decided, verify } = await run(reading(target));
    expect(result).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", details: { reason } },
      proof: {
        decision: "deny",
        reasonCode: "request-denied",
        request: { kind: "fs.read", target, reason },
        parentProofId: expect.any(String),
      },
    });
    expect(decided).toMatchObject([
      { payload: { decision: "allow", reasonCode: "posture" } },
      { payload: { decision: "deny", reasonCode: "request-denied", proofHash: result.proof?.hash } },
    ]);
    expect((await verify()).steps).toMatchObject(passed);
    const proof = result.proof ?? expect.unreachable();
    expect(explain(proof).summary).toContain(`fs.read of "${target}" (${reason})`);
    expect(explain(proof).toChange).not.toEqual([]);
  });

  it("carries a denial also where the grant was revoked while the tool ran", async () => {
    const { result, verify } = await run(async (read, kernel) => {
      await kernel.grants.revoke({ tool: "subject" }, "Under review.");
      await read("docs/a");
      return null;
    });
    expect(result).toMatchObject({ ok: false, proof: { request: { target: "docs/a", reason: "revoked" } } });
    expect((await verify()).steps).toMatchObject(passed);
  });

  it("names a long target by its beginning", async () => {
    const { result, verify } = await run(reading(`src/${"a".repeat(3_000)}`));
    expect(result.proof?.request?.target).toHaveLength(1_024);
    expect((await verify()).steps).toMatchObject(passed);
  });
});

describe("a call that goes on after a refused request", () => {
  it("keeps the proof that allowed it, which the log bears out", async () => {
    const { result, decided, verify } = await run(async (read) =>
      read("src/a").then(
        () => "read",
        () => "refused",
      ),
    );
    expect(result).toMatchObject({ ok: true, data: "refused", proof: { decision: "allow" } });
    expect(decided).toHaveLength(1);
    expect((await verify()).steps).toMatchObject(passed);
  });

  it("keeps it also where its tool claims a refusal that it was not given", async () => {
    const { result, decided } = await run(async () => {
      throw Object.assign(new Error("mine"), { code: "CAPABILITY_DENIED" });
    });
    expect(result).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" }, proof: { decision: "allow" } });
    expect(decided).toHaveLength(1);
  });

  it("keeps it where nothing was denied: the file is not there", async () => {
    const { result } = await run(reading("docs/missing"));
    expect(result).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" }, proof: { decision: "allow" } });
  });
});

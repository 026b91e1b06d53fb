import {
  type AuditEvent,
  type Broker,
  type CallResult,
  type JsonValue,
  type Kernel,
  limits,
  type Proof,
  type ToolContext,
} from "@keyhole/kernel";
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
  /** @param proof Default: the result's. */
  readonly verify: (proof?: Proof) => ReturnType<typeof verifyProof>;
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
    verify: (proof = result.proof) => verifyProof(proof, evidence),
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
  it("keeps the proof that allowed it, and each refusal has one of its own, which the log bears out", async () => {
    const { result, decided, verify } = await run(async (read) => {
      for (const path of ["src/a", "docs/a", "docs/keys"]) await read(path).catch(() => {});
      return "refused";
    });
    expect(result).toMatchObject({ ok: true, data: "refused", proof: { decision: "allow" }, meta: { warnings: [] } });
    expect((await verify()).steps).toMatchObject(passed);
    const proofs = decided.slice(1).map(({ payload }) => (payload as { proof: Proof }).proof);
    const parentProofId = result.proof?.proofId;
    expect(proofs).toMatchObject([
      {
        decision: "deny",
        reasonCode: "request-denied",
        parentProofId,
        request: { target: "src/a", reason: "not-granted" },
      },
      {
        decision: "deny",
        reasonCode: "request-denied",
        parentProofId,
        request: { target: "docs/keys", reason: "forbidden" },
      },
    ]);
    for (const proof of proofs) expect((await verify(proof)).steps).toMatchObject(passed);
    const changed = { ...proofs[0]!, request: { ...proofs[0]!.request!, target: "docs/a" } };
    expect(await verify(changed)).toMatchObject({ verdict: "broken" });
  });

  it.each([
    ["as many as have proofs", limits.provenDenials, []],
    ["one more", limits.provenDenials + 1, ["1 refused requests have no proof of their own: one call has at most 32."]],
  ])("has a limited number of such proofs, and counts the rest: %s", async (_, count, warnings) => {
    const { result, decided, kernel } = await run(async (read) => {
      for (let i = 0; i < count; i++) await read(`src/${i}`).catch(() => {});
      return null;
    });
    expect(result).toMatchObject({ ok: true, meta: { warnings } });
    expect(decided).toHaveLength(1 + limits.provenDenials);
    const used = (await kernel.audit.read()).filter(({ type }) => type === "capability.used");
    expect(used).toHaveLength(count);
  });

  it("has one proof for the refusal that ends it, behind those that it handled", async () => {
    const { result, decided, verify } = await run(async (read) => {
      await read("src/a").catch(() => {});
      await read("src/b");
      return null;
    });
    expect(decided).toHaveLength(3);
    expect(decided[2]).toMatchObject({ payload: { proofHash: result.proof?.hash } });
    expect(result).toMatchObject({ ok: false, proof: { request: { target: "src/b" } } });
    expect((await verify()).steps).toMatchObject(passed);
  });

  it("has a proof for the refusal that ends it, also beyond the limit", async () => {
    const { result, decided } = await run(async (read) => {
      for (let i = 0; i < limits.provenDenials; i++) await read(`src/${i}`).catch(() => {});
      await read("src/last");
      return null;
    });
    expect(decided).toHaveLength(2 + limits.provenDenials);
    expect(result).toMatchObject({ ok: false, proof: { request: { target: "src/last" } } });
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

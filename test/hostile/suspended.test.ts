import {
  blake3Hash,
  type CallResult,
  type IsolateHost,
  type Kernel,
  memorySink,
  type ToolPackage,
  packageHash,
} from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { beforeAll, describe, expect, it } from "vitest";
import {
  kernelVersion,
  readSnapshot,
  writeSnapshot,
  type Snapshot,
} from "../../packages/kernel/src/call/suspension/snapshot-format.ts";
import { seal, sealingKey, unseal } from "../../packages/kernel/src/call/suspension/sealed-snapshot.ts";
import { expectSoundLog } from "../support/kernel.ts";
import {
  begin,
  openGrants,
  patient,
  policy,
  slowFiles,
  suspendingKernel,
  testKey,
  typesOf,
} from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const host = async (): Promise<IsolateHost> => interpreterHost({ engine: await testEngine() });
const patientCode = typeof patient.code === "string" ? patient.code : "";
const otherKey = testKey.map((byte) => byte ^ 1);

type Options = Parameters<typeof suspendingKernel>[1];

/** A call that reads, suspended; and its kernel. */
async function suspended(
  options: Options = {},
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly kernel: Kernel; readonly callId: string }> {
  const { kernel, files } = await suspendingKernel(await host(), options);
  const { callId, result } = await begin(kernel, "patient", {});
  await files.untilAsked("read a", "read b");
  const suspension = await kernel.suspend(callId, { waitMs: 0 });
  if (!suspension.ok) throw new Error(suspension.error.message);
  await result;
  return { bytes: suspension.bytes, kernel, callId };
}

let bytes: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  ({ bytes } = await suspended());
});

/** How a kernel that never heard of it takes these bytes; it records nothing and asks for nothing when it refuses. */
async function taken(snapshot: Uint8Array, options: Options = {}): Promise<unknown> {
  const files = await slowFiles(true);
  const { kernel, events } = await suspendingKernel(await host(), { files, ...options });
  const before = await events();
  const result = await kernel.resume(snapshot);
  if (result.ok) return "OK";
  expect(files.asked).toEqual([]);
  expect(await events()).toEqual(before);
  expect(result.error.code).toBe("SNAPSHOT_REFUSED");
  return (result.error.details as { readonly reason: string }).reason;
}

/** What whoever has the key writes. */
async function forged(change: (frozen: Snapshot) => object): Promise<Uint8Array<ArrayBuffer>> {
  const key = await sealingKey(testKey);
  const frozen = readSnapshot((await unseal(key, bytes))!)!;
  return seal(key, writeSnapshot(change(frozen) as Snapshot));
}

describe("the bytes of a suspended call that come back", () => {
  it("are taken as they were", async () => expect(await taken(bytes)).toBe("OK"));

  it("are refused with any byte changed", async () => {
    const { kernel } = await suspendingKernel(await host());
    const regions = [0, 15, 16, 27, 28, 29, bytes.length >> 1, bytes.length - 17, bytes.length - 16, bytes.length - 1];
    const spread = Array.from({ length: 64 }, (_, at) => Math.floor((bytes.length * at) / 64));
    for (const place of [...regions, ...spread]) {
      for (const bit of [1, 128]) {
        const changed = bytes.slice();
        changed[place]! ^= bit;
        expect(await kernel.resume(changed), String(place)).toMatchObject({ error: { code: "SNAPSHOT_REFUSED", details: { reason: "changed" } } }); // prettier-ignore
      }
    }
  });

  it("are refused when cut, extended, none, or no bytes at all", async () => {
    for (const length of [0, 1, 16, 28, 43, 44, bytes.length - 1])
      expect(await taken(bytes.subarray(0, length)), String(length)).toBe("changed");
    const longer = new Uint8Array(bytes.length + 1);
    longer.set(bytes);
    expect(await taken(longer)).toBe("changed");
    expect(await taken(crypto.getRandomValues(new Uint8Array(10_000)))).toBe("changed");
    for (const foreign of [null, "bytes", { length: 1_000 }, [1, 2, 3]])
      expect(await taken(foreign as never)).toBe("changed");
  });

  it("are refused when they were sealed with another key", async () => {
    expect(await taken(bytes, { suspension: { key: otherKey } })).toBe("changed");
  });

  it("are refused for another package of the same name and version, and without one", async () => {
    const code = `${patientCode} `;
    const other: ToolPackage = {
      manifest: patient.manifest,
      code,
      hash: packageHash(patient.manifest, code, blake3Hash) ?? "",
    };
    expect(await taken(bytes, { tools: [other] })).toBe("other-tool");
    expect(await taken(bytes, { tools: [] })).toBe("other-tool");
  });

  it("are refused when another version of the kernel wrote them, before anything else of them is read", async () => {
    expect(await taken(await forged((frozen) => ({ ...frozen, version: `${kernelVersion}0`, root: null })))).toBe(
      "other-version",
    );
    expect(await taken(await forged(({ version: _, ...frozen }) => frozen))).toBe("other-version");
  });

  it("are refused on a host of another kind, and on one that cannot", async () => {
    const real = await host();
    const other: IsolateHost = { ...real, snapshotKind: async () => "another" };
    const { kernel } = await suspendingKernel(other);
    expect(await kernel.resume(bytes)).toMatchObject({
      error: { code: "SNAPSHOT_REFUSED", details: { reason: "other-host" } },
    });
    const { snapshotKind: _s, thaw: _t, ...unable } = real;
    const plain = await suspendingKernel(unable);
    expect(await plain.kernel.resume(bytes)).toMatchObject({ error: { code: "UNSUPPORTED_HOST" } });
  });

  it("show nothing of what the tool knows", () => {
    const text = new TextDecoder("latin1").decode(bytes);
    for (const word of ["begun", "context.files", "session", "patient", "blake3"]) expect(text).not.toContain(word);
  });
});

describe("a snapshot that is resumed twice", () => {
  const codes = (results: readonly CallResult[]): readonly string[] =>
    results.map((result) => (result.ok ? "OK" : JSON.stringify(result.error.details))).toSorted();
  const once = ["OK", '{"reason":"resumed-before"}'];

  it("goes on once, also at the same time", async () => {
    const { kernel } = await suspendingKernel(await host(), { files: await slowFiles(true) });
    expect(codes(await Promise.all([kernel.resume(bytes), kernel.resume(bytes.slice())]))).toEqual(once);
    expect(codes([await kernel.resume(bytes)])).toEqual([once[1]]);
    await expectEndsOnce(kernel);
  });

  it("goes on once per log, whoever reads it", async () => {
    const sink = memorySink();
    const first = await suspended({ sink });
    await first.kernel.close();
    const results: CallResult[] = [];
    for (const _ of [1, 2]) {
      const { kernel } = await suspendingKernel(await host(), { sink, files: await slowFiles(true) });
      results.push(await kernel.resume(first.bytes));
      await expectSoundLog(kernel);
      await kernel.close();
    }
    expect(codes(results)).toEqual(once);
  });

  it("goes on once among kernels that share what they claim", async () => {
    const claimed = new Set<string>();
    const claim = (id: string): boolean => !claimed.has(id) && claimed.add(id).size > 0;
    const kernels = await Promise.all(
      [1, 2].map(
        async () =>
          (await suspendingKernel(await host(), { files: await slowFiles(true), suspension: { claim } })).kernel,
      ),
    );
    expect(codes(await Promise.all(kernels.map((kernel) => kernel.resume(bytes))))).toEqual(once);
  });
});

async function expectEndsOnce(kernel: Kernel): Promise<void> {
  const ends = (await kernel.audit.read()).filter(({ type }) => ["tool.completed", "tool.failed"].includes(type));
  expect(ends).toHaveLength(1);
}

describe("what changed while a call was suspended", () => {
  it("grants that were enlarged: it has what it had, and not more", async () => {
    const narrow = { ...policy, grants: [{ tool: "*", capability: { kind: "fs.read", paths: ["**"] } }, { tool: "*", capability: { kind: "fs.write", paths: ["elsewhere"] } }] }; // prettier-ignore
    const before = await suspended({ policy: narrow });
    const files = await slowFiles(true);
    const { kernel, events } = await suspendingKernel(await host(), { files }); // Everything is granted here.
    const result = await kernel.resume(before.bytes);
    expect(result).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED" },
      proof: { decision: "deny", reasonCode: "request-denied" },
    });
    expect(files.asked).not.toContain("write c");
    // Under another policy it was decided anew, on record.
    expect(typesOf(await events(), before.callId).slice(0, 3)).toEqual([
      "tool.resumed",
      "capability.checked",
      "policy.decided",
    ]);
    await expectEndsOnce(kernel);
  });

  it("grants that the policy no longer has: it does not go on", async () => {
    const files = await slowFiles(true);
    const { kernel } = await suspendingKernel(await host(), {
      files,
      policy: { ...policy, grants: openGrants.slice(1) },
    });
    expect(await kernel.resume(bytes)).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" }, effects: ["fs.read"], meta: { attempts: 1 } }); // prettier-ignore
    expect(files.asked).toEqual([]);
    await expectEndsOnce(kernel);
  });

  it("a rule that denies it by now: it does not go on", async () => {
    const rules = [{ id: "closed", effect: "deny", when: { tool: ["patient"] }, reason: "Closed.", examples: { match: [{ tool: "patient" }], notMatch: [{ tool: "echo" }] } }]; // prettier-ignore
    const files = await slowFiles(true);
    const { kernel } = await suspendingKernel(await host(), { files, policy: { ...policy, rules } });
    expect(await kernel.resume(bytes)).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" }, proof: { decision: "deny" } }); // prettier-ignore
    expect(files.asked).toEqual([]);
    await expectEndsOnce(kernel);
  });

  it("a policy that asks by now: somebody has to say yes before it goes on", async () => {
    const rules = [{ id: "asks", effect: "ask", when: { tool: ["patient"] }, reason: "Ask.", examples: { match: [{ tool: "patient" }], notMatch: [{ tool: "echo" }] } }]; // prettier-ignore
    const resumeWith = async (answer: "allow" | "deny"): Promise<CallResult> => {
      const { kernel } = await suspendingKernel(await host(), {
        files: await slowFiles(true),
        policy: { ...policy, rules },
      });
      const approver = async (): Promise<never> => ({ answer, scope: "once", approver: "ada" }) as never;
      return kernel.resume(bytes, { approver });
    };
    expect(await resumeWith("allow")).toMatchObject({ ok: true, proof: { reasonCode: "approved" } });
    expect(await resumeWith("deny")).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
  });

  it("the kernel's mode: it is decided anew", async () => {
    const { kernel } = await suspendingKernel(await host(), { mode: "LOCKDOWN" });
    expect(await kernel.resume(bytes)).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
  });

  it("a grant that was revoked does not come back to life, also where only the log knows of it, and it was restored since", async () => {
    const sink = memorySink();
    const { kernel, bytes: snapshot, callId } = await suspended({ sink });
    const { revocationId } = await kernel.grants.revoke({ callId, kinds: ["fs.read"] }, "Under review.");
    expect(await kernel.grants.restore(revocationId, "It was fine.")).toBe(true);
    await kernel.close();
    const files = await slowFiles(true);
    const next = await suspendingKernel(await host(), { sink, files });
    expect(await next.kernel.resume(snapshot)).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED", message: expect.stringContaining("revoked: Under review.") } }); // prettier-ignore
    expect(files.asked).toEqual([]);
    await expectSoundLog(next.kernel);
  });

  it("a grant that was revoked before it was suspended stays revoked in a kernel that never heard of it", async () => {
    const optional = { ...patient.manifest, capabilities: [patient.manifest.capabilities[0], { ...patient.manifest.capabilities[1], optional: true }] } as typeof patient.manifest; // prettier-ignore
    const tool: ToolPackage = {
      ...patient,
      manifest: optional,
      hash: packageHash(optional, patient.code, blake3Hash) ?? "",
    };
    const { kernel, files } = await suspendingKernel(await host(), { tools: [tool] });
    const { callId } = await begin(kernel, "patient", {});
    await files.untilAsked("read a", "read b");
    await kernel.grants.revoke({ callId, kinds: ["fs.write"] }, "No more.");
    const suspension = await kernel.suspend(callId, { waitMs: 0 });
    if (!suspension.ok) throw new Error(suspension.error.message);
    const other = await slowFiles(true);
    const next = await suspendingKernel(await host(), { tools: [tool], files: other });
    expect(await next.kernel.resume(suspension.bytes)).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED", message: expect.stringContaining("revoked: No more.") } }); // prettier-ignore
    expect(other.asked).not.toContain("write c");
  });
});

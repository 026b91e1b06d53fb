import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AuditEvent,
  canonicalJson,
  createKernel,
  type Hash,
  type JsonValue,
  type KernelOptions,
  memorySink,
  packageHash,
  verifyChain,
  verifyProofDigest,
} from "@keyhole/kernel";
import { digestBytes, disclose, inclusionProof, treeHashOf, verifyAudit, verifyInclusion } from "@keyhole/kernel/audit";
import { checkpointSigner, createProofKey, verifyProof } from "@keyhole/kernel/policy";
import { recordingHost, readRun, replay, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { fileSink } from "@keyhole/worker-host/node";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioOf } from "../support/command-files.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openKernel } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";
import { registered } from "../support/registered.ts";
import { trusting } from "../support/trusted.ts";
import { wholeLog } from "../support/whole-log.ts";
import { double, policy, subject, work } from "./every-ending.ts";

describe("a kernel with SHA-256", () => {
  it.each<[string, Partial<KernelOptions>, string, string]>([
    ["has no digest in another algorithm", { hash: sha256Hash }, "sha256:", "blake3:"],
    ["is told from one with BLAKE3", {}, "blake3:", "sha256:"],
  ])("%s", async (_, options, own, other) => {
    const { kernel, log, results } = await work(options);
    const everything = JSON.stringify([log, results, kernel.list(), kernel.policyHash, kernel.approvals.list()]);
    expect(everything).toContain(own);
    expect(everything).not.toContain(other);
    expect(results.map((result) => result.ok)).toEqual([
      true,
      true,
      false,
      true,
      true,
      true,
      false,
      true,
      true,
      false,
      true,
      true,
      true,
      false,
    ]);
  });

  it("has the digests that anybody computes from the same canonical JSON", async () => {
    const { log, results, kernel } = await work({ hash: sha256Hash });
    const reference = (value: unknown): string =>
      `sha256:${createHash("sha256")
        .update(canonicalJson(value as JsonValue))
        .digest("hex")}`;
    for (const { hash, ...body } of log) expect(reference(body)).toBe(hash);
    const [first] = results;
    if (!first?.ok || !first.proof) throw new Error("it did not run");
    expect(first.hash).toBe(reference({ amount: 1 }));
    expect(first.proof.inputHash).toBe(reference({ amount: 1 }));
    const { hash: sealed, ...proof } = first.proof;
    expect(reference(proof)).toBe(sealed);
    const summary = kernel.list({ text: "double" })[0]!;
    const { manifest, code } = packed(double);
    expect(summary.hash).toBe(packageHash(manifest, code, sha256Hash));
    expect(summary.hash).toBe(reference({ codeHash: summary.codeHash, manifest }));
  });

  it("gives evidence that verifies without being told of the algorithm", async () => {
    const { log, results, content, kernel } = await work({ hash: sha256Hash });
    expect(await verifyAudit(log)).toMatchObject({ verdict: "unvouched", algorithm: "sha256", events: log.length });
    const shown: AuditEvent[] = [];
    for await (const event of disclose(log, content)) shown.push(event);
    expect(await verifyAudit(shown)).toMatchObject({ verdict: "unvouched", closed: 0, opened: 10 });

    const [first] = results;
    const [{ manifest }] = kernel.list({ text: "subject" }).filter(({ id }) => id === "subject@1.0.0") as [
      ReturnType<typeof kernel.list>[number],
    ];
    const evidence = { events: log, policy, tool: { manifest }, input: { amount: 1 } };
    const report = await verifyProof(first!.proof, evidence);
    expect(report.steps.map(({ outcome, reason }) => `${outcome} ${reason}`.trim())).toEqual([
      "passed",
      "skipped The proof has no signature.",
      expect.stringContaining("unvouched It holds in this log."),
      "passed",
      expect.stringContaining("unvouched It holds in this log."),
    ]);
    expect(await verifyProof(first!.proof, { ...evidence, input: { amount: 2 } })).toMatchObject({ verdict: "broken" });

    const files = { "log.jsonl": log.map((event) => `${JSON.stringify(event)}\n`).join(""), proof: first!.proof };
    expect(await runCommand(["verify", "log.jsonl"], ioOf(files))).toMatchObject({ exitCode: 3 });
    expect(await runCommand(["verify", "proof", "--log", "log.jsonl"], ioOf(files))).toMatchObject({ exitCode: 3 });
  });

  it("has a Merkle tree in SHA-256, as RFC 9162 has it, and checkpoints over it", async () => {
    const { log } = await work({ hash: sha256Hash });
    const { root, events: size } = await wholeLog(log);
    if (root === null) throw new Error("not from its beginning");
    expect(root).toMatch(/^sha256:/);
    const leaves = log.map(({ hash }) => digestBytes(hash)!);
    const tree = treeHashOf(sha256Hash);
    const proof = inclusionProof(leaves, 3, tree);
    const inclusion = { data: leaves[3]!, index: 3, size, root: digestBytes(root)!, proof };
    expect(verifyInclusion(inclusion, tree)).toBe(true);
    expect(verifyInclusion(inclusion)).toBe(false);

    const key = await createProofKey();
    const state = { origin: "shop", size, root, time: "2026-01-01T00:00:00.000Z" };
    const options = { checkpoints: [await (await checkpointSigner(key))(state)], trusted: await trusting(key) };
    expect(await verifyAudit(log, options)).toMatchObject({ verdict: "verified" });
    expect(await verifyAudit(log.slice(0, -1), options)).toMatchObject({ verdict: "broken" });
  });

  it("keeps its log in a file, and goes on with it; one with another algorithm does not open it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keyhole-sha256-"));
    const path = join(folder, "audit.jsonl");
    const sinks: ReturnType<typeof fileSink>[] = [];
    const open = async (hash?: Hash) => {
      const sink = fileSink(path, { fsync: "never" });
      sinks.push(sink);
      return createKernel({ sink, clock: new FakeClock(), ...(hash && { hash }) });
    };
    try {
      for (let i = 0; i < 2; i++) {
        const kernel = await open(sha256Hash);
        kernel.registerTrusted(subject);
        await kernel.call("subject", { amount: i });
        expect(kernel.mode).toBe("NORMAL");
        const events = await kernel.audit.read();
        expect(verifyChain(events, sha256Hash)).toMatchObject({ ok: true });
        expect(verifyChain(events)).toMatchObject({ ok: false, seq: 0 });
        await kernel.close();
        await sinks[i]?.close();
      }
      await expect(open()).rejects.toThrow(/continues from sha256:[0-9a-f]{64}; the kernel hashes with blake3/);
    } finally {
      for (const sink of sinks) await sink.close();
      rmSync(folder, { recursive: true });
    }
  });

  it("records runs that replay", async () => {
    const entries: RunEntry[] = [];
    const host = recordingHost(moduleHost(double), (entry) => entries.push(entry), sha256Hash);
    const { kernel, clock } = await openKernel({ hash: sha256Hash, host });
    const added = kernel.register(packed(double));
    await kernel.call("double", { n: 21 });
    const file = writeRun({ entries });
    expect(file).not.toContain("blake3");
    const read = await readRun(file.split("\n"));
    if (!read.ok || !added.ok) throw new Error("not recorded");
    const tool = registered(packed(double), sha256Hash);
    expect(await replay(read.run, { host: moduleHost(double), tools: [tool], clock })).toEqual({
      ok: true,
      calls: 1,
    });
    // Under its BLAKE3 name it is another tool.
    const other = registered(packed(double));
    expect(await replay(read.run, { host: moduleHost(double), tools: [other], clock })).toMatchObject({
      ok: false,
      kind: "refused",
    });
  });
});

describe("evidence in two algorithms", () => {
  const logs = async () => ({ own: (await work({ hash: sha256Hash })).log, other: (await work({})).log });

  it("is refused at the first event of the other one", async () => {
    const { own, other } = await logs();
    const mixed = [...own.slice(0, 5), ...other.slice(5)];
    const reason = "The digest of event 5 is in another algorithm: blake3, not sha256.";
    expect(await verifyAudit(mixed)).toEqual({ verdict: "broken", events: 5, seq: 5, reason });
    expect(await verifyAudit(mixed.map((event) => JSON.stringify(event)))).toMatchObject({ verdict: "broken", reason });
    const file = mixed.map((event) => `${JSON.stringify(event)}\n`).join("");
    expect(await runCommand(["verify", "log"], ioOf({ log: file }))).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining(`Line 6: ${reason}`),
    });
  });

  it("is refused where the reader asks for one of them", async () => {
    const { own, other } = await logs();
    expect(await verifyAudit(own, { algorithm: "sha256" })).toMatchObject({ verdict: "unvouched" });
    expect(await verifyAudit(other, { algorithm: "sha256" })).toEqual({
      verdict: "broken",
      events: 0,
      seq: 0,
      reason: "The digest of event 0 is in another algorithm: blake3, not sha256.",
    });
  });

  it("does not become true by naming the other one", async () => {
    const { own } = await logs();
    const renamed = JSON.parse(JSON.stringify(own).replaceAll("sha256:", "blake3:")) as AuditEvent[];
    expect(await verifyAudit(renamed)).toMatchObject({ verdict: "broken", events: 0, reason: "Event 0 was changed." });
    for (const foreign of ["md5", "SHA256", "sha512", "constructor"]) {
      const named = JSON.parse(JSON.stringify(own).replaceAll("sha256:", `${foreign}:`)) as AuditEvent[];
      expect(await verifyAudit(named)).toMatchObject({
        verdict: "broken",
        events: 0,
        reason: "The digest of event 0 is in no known algorithm.",
      });
    }
  });

  it("does not discharge a proof in one with a log in the other", async () => {
    const { results } = await work({ hash: sha256Hash });
    const { other } = await logs();
    const proof = results[0]!.proof!;
    const report = await verifyProof(proof, { events: other });
    expect(report.steps).toContainEqual({
      level: 1,
      name: "inclusion",
      outcome: "failed",
      reason: "The digest of event 0 is in another algorithm: blake3, not sha256.",
    });
    expect(verifyProofDigest(proof, sha256Hash)).toEqual({ ok: true });
    expect(verifyProofDigest(proof)).toMatchObject({ ok: false });
    expect(await verifyProof({ ...proof, hash: proof.hash.replace("sha256", "blake3") })).toMatchObject({
      verdict: "broken",
    });
  });

  it("opens a log whose records do not agree in lockdown", async () => {
    const sink = memorySink();
    const { kernel } = await openKernel({ sink, hash: sha256Hash });
    await kernel.setMode("ALERT", "drill");
    const foreign = memorySink();
    const other = await openKernel({ sink: foreign });
    await other.kernel.setMode("ALERT", "drill");
    const records = [...(await foreign.read(0, 1)), ...(await sink.read(0, 9)).map((each) => ({ ...each, seq: 1 }))];
    const spliced = {
      ...memorySink(),
      open: () => ({ last: records[1], cutBytes: 0, damage: null }),
      read: () => records,
    };
    const opened = await openKernel({ sink: spliced, hash: sha256Hash });
    expect(opened.kernel.mode).toBe("LOCKDOWN");
  });

  it("registers packages by a digest in BLAKE3 or in its own algorithm, and by no other", async () => {
    const { manifest, code } = packed(double);
    const own = packageHash(manifest, code, sha256Hash)!;
    const { kernel } = await openKernel({ hash: sha256Hash });
    expect(kernel.register({ manifest, code, hash: own })).toMatchObject({ ok: true, value: { hash: own } });
    expect((await openKernel()).kernel.register({ manifest, code, hash: own })).toMatchObject({
      ok: false,
      error: { code: "PACKAGE_HASH_MISMATCH", path: "/hash" },
    });
    for (const hash of [own.replace("sha256", "blake3"), packed(double).hash.replace("blake3", "sha256"), "sha256:"])
      expect((await openKernel({ hash: sha256Hash })).kernel.register({ manifest, code, hash })).toMatchObject({
        error: { code: "PACKAGE_HASH_MISMATCH" },
      });
  });
});

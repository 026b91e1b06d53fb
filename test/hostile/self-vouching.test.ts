import { blake3Hash, type Proof } from "@keyhole/kernel";
import { digestBytes, merkleRoot, printDigest, trustKeys, verifyAudit } from "@keyhole/kernel/audit";
import {
  checkpointSigner,
  createProofKey,
  keyId,
  type ProofKey,
  proofSigner,
  publicKeyOf,
  readEvidence,
  verifyProof,
} from "@keyhole/kernel/policy";
import { writeRun } from "@keyhole/kernel/replay";
import { beforeAll, describe, expect, it } from "vitest";
import { sealProof } from "../../packages/kernel/src/policy/proof/seal-proof.ts";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { eventsOf, linesOf, recordsOf } from "../audit/log-of.ts";
import { document as policy, record } from "../policy/recorded.ts";
import { ioOf } from "../support/command-files.ts";

const unusable = (said: RegExp) => ({ exitCode: 2, output: "", errorOutput: expect.stringMatching(said) as string });
const run = (line: string, files: Record<string, unknown>) => runCommand(line.split(" "), ioOf(files));
const ends = (line: string, files: Record<string, unknown>): Promise<number> =>
  run(line, files).then(({ exitCode }) => exitCode);

const time = "2026-01-01T00:00:00.000Z";
const records = await recordsOf(20);
const log = linesOf(records).join("\n");
const rootOf = (size: number): string =>
  printDigest(merkleRoot(eventsOf(records.slice(0, size)).map(({ hash }) => digestBytes(hash)!)));

let owner: ProofKey;
let forger: ProofKey;
let calls: Awaited<ReturnType<typeof record>>;
/** The kernel's denial, signed by its owner. */
let denial: Proof;
/** The same denial as an allow, sealed again and signed by the forger. */
let forged: Proof;
beforeAll(async () => {
  [owner, forger] = [await createProofKey(), await createProofKey()];
  calls = await record();
  const { signature: _, ...bare } = calls.calls.denied.result.proof!;
  denial = await (await proofSigner(owner)).sign(bare);
  const { hash: __, v: ___, engineVersion: ____, ...body } = bare;
  const allow = sealProof({ ...body, decision: "allow", reasonCode: "posture", determining: [] }, blake3Hash);
  forged = await (await proofSigner(forger)).sign(allow);
});
const signed = async (size: number, key = owner, root = rootOf(size)) =>
  (await checkpointSigner(key))({ origin: "shop", size, root, time });

describe("a key that comes with the file", () => {
  it("vouches for nothing: a denial rewritten as an allow is not verified by it", async () => {
    const file = { proof: forged, keys: [publicKeyOf(forger)] };
    const { exitCode, output } = await run("verify a", { a: file });
    expect(exitCode).toBe(3);
    expect(output).toContain(`skipped: key ${await keyId(forger)} came with the file.`);
    expect(output).not.toMatch(/✓ level 0 +signature/);
    expect(output).toMatch(/^Intact, but unvouched: key .* came with the file\./m);
    expect(output).toMatch(/^Claimed: The call of subject@1\.0\.0 was allowed: /m);
    expect(await run("verify a --json", { a: file })).toMatchObject({
      exitCode: 3,
      output: expect.stringMatching(/"verdict": "unvouched"[^]*"kind": "nobody"/),
    });
  });

  it.each<[string, (keys: readonly unknown[]) => object]>([
    ["as a key set", (keys) => ({ keys: { keys } })],
    ["as one key", ([key]) => ({ keys: key })],
    ["twice", (keys) => ({ keys: [...keys, ...keys] })],
    ["in a result", (keys) => ({ ok: true, tool: forged.tool, callId: forged.callId, data: 1, keys })],
  ])("vouches for nothing %s", async (_, more) => {
    expect(await ends("verify a", { a: { proof: forged, ...more([publicKeyOf(forger)]) } })).toBe(3);
  });

  it("does not hide that the signature is not its own", async () => {
    const { value } = denial.signature!;
    const proof = { ...forged, signature: { ...forged.signature!, value } };
    expect(await ends("verify a", { a: { proof, keys: [publicKeyOf(forger)] } })).toBe(1);
  });

  it("does not take the place of the keys that were given", async () => {
    const a = { proof: forged, keys: [publicKeyOf(forger)] };
    expect(await ends("verify a --keys k", { a, k: publicKeyOf(owner) })).toBe(1);
    const b = { proof: denial, keys: [publicKeyOf(forger)] };
    expect(await ends("verify b --keys k", { b, k: publicKeyOf(owner) })).toBe(0);
  });

  it("vouches for nothing where a program gives it past its types", async () => {
    const read = readEvidence({ proof: {}, keys: publicKeyOf(forger) as never });
    const enclosed = (read.ok && read.value.evidence.enclosedKeys) as never;
    expect(await verifyProof(forged, {}, enclosed)).toMatchObject({ verdict: "broken" });
    const checkpoints = [await signed(20, forger)];
    expect(await verifyAudit(eventsOf(records), { checkpoints, trusted: enclosed })).toMatchObject({
      verdict: "broken",
    });
    expect(await trustKeys(enclosed)).toBe("A key is a JSON Web Key of kty OKP and crv Ed25519.");
  });

  it("is not given by giving the file itself as the keys", async () => {
    const a = { proof: forged, keys: [publicKeyOf(forger)] };
    expect(await run("verify a --keys a", { a })).toEqual(unusable(/not a key file/));
  });

  it("is trusted when its thumbprint was pinned, and then only that key", async () => {
    const a = { proof: denial, keys: [publicKeyOf(forger), publicKeyOf(owner)] };
    const pin = await keyId(owner);
    expect(await run(`verify a --pin ${pin}`, { a })).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining(`Verified: key ${pin}, which you trust, signed it.`),
    });
    expect(await ends(`verify a --pin ${pin}`, { a: { ...a, proof: forged } })).toBe(1);
    expect(await ends(`verify a --pin ${await keyId(forger)}`, { a })).toBe(1);
    // Without its material nothing can be told.
    expect(await ends(`verify a --pin ${pin}`, { a: { proof: denial } })).toBe(2);
    expect(await ends(`verify a --pin ${pin}`, { a: { proof: denial, keys: [publicKeyOf(forger)] } })).toBe(2);
    expect(await ends(`verify a --pin ${pin} --keys k`, { a, k: publicKeyOf(forger) })).toBe(2);
    // A value of --pin, not an option.
    expect((await run(`verify a --pin -${"A".repeat(42)}`, { a })).errorOutput).toContain("No key has a pinned");
    for (const wrong of ["x", `${pin}A`, pin.slice(1), `${pin}=`, "*"])
      expect(await ends(`verify a --pin ${wrong}`, { a })).toBe(2);
  });
});

describe("a key that was given", () => {
  it("vouches for what it signed, and is named by what it is", async () => {
    const kid = await keyId(owner);
    const files = { a: denial, k: publicKeyOf(owner) };
    expect(await run("verify a --keys k", files)).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(new RegExp(`^✓ level 0 +signature +of key ${kid}$`, "m")),
    });
    const { output } = await run("verify a --keys k --json", files);
    expect(JSON.parse(output)).toMatchObject({ verdict: "verified", vouchedBy: { kind: "key", kid } });
  });

  it.each<[string, (proof: Proof, kids: readonly [string, string]) => object]>([
    [
      "under the name of another key",
      (proof, [, other]) => ({ ...proof, signature: { ...proof.signature, kid: other } }),
    ],
    ["under no name", (proof) => ({ ...proof, signature: { ...proof.signature, kid: "" } })],
    ["of another proof", (proof) => ({ ...forged, signature: proof.signature })],
    ["twice", (proof) => ({ ...proof, signature: [proof.signature, forged.signature] })],
    ["beside a second one", (proof) => ({ ...proof, signatures: [forged.signature] })],
    ["within other evidence", (proof) => ({ proof: { proof } })],
    ["without a signature", ({ signature: _, ...proof }) => proof],
  ])("vouches for no proof with its signature %s", async (_, change) => {
    const a = change(denial, [await keyId(owner), await keyId(forger)]);
    for (const k of [[publicKeyOf(owner)], [publicKeyOf(owner), publicKeyOf(forger)]])
      expect(await ends("verify a --keys k", { a, k })).toBe(1);
    expect([1, 3]).toContain(await ends("verify a", { a }));
  });

  it("of two signatures under one name, the file is refused", async () => {
    const { signature, ...proof } = denial;
    const text = JSON.stringify({ ...proof, signature });
    const a = text.replace('"signature":', `"signature":${JSON.stringify(forged.signature)},"signature":`);
    expect(await ends("verify a --keys k", { a, k: publicKeyOf(owner) })).toBe(2);
  });

  it("does not lend its name to other material", async () => {
    const k = { ...publicKeyOf(forger), kid: await keyId(owner) };
    expect(await ends("verify a --keys k", { a: denial, k })).toBe(1);
    const { output } = await run("verify a --keys k", { a: forged, k });
    expect(output).toContain(`of key ${await keyId(forger)}`);
    expect(output).not.toContain(await keyId(owner));
  });

  it("may stand there twice", async () => {
    const k = [publicKeyOf(owner), publicKeyOf(forger), publicKeyOf(owner)];
    expect(await ends("verify a --keys k", { a: denial, k })).toBe(0);
  });

  const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  it.each<[string, unknown, RegExp]>([
    ["an empty list", [], /no key/],
    ["an empty key set", { keys: [] }, /no key/],
    ["a text in PEM", "-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----\n", /PEM/],
    ["a private key", { kty: "OKP", crv: "Ed25519", x, d: "AA" }, /private/],
    ["a key for encryption", { kty: "OKP", crv: "Ed25519", x, use: "enc" }, /excludes/],
    ["a key that may only sign", { kty: "OKP", crv: "Ed25519", x, key_ops: ["sign"] }, /excludes/],
    ["a key of another algorithm", { kty: "OKP", crv: "Ed25519", x, alg: "HS256" }, /excludes/],
    ["a shared secret", { kty: "oct", k: x }, /OKP/],
    ["a key under which anybody can sign", { kty: "OKP", crv: "Ed25519", x: `AQ${"A".repeat(41)}` }, /small order/],
    ["a key of another curve", { kty: "OKP", crv: "X25519", x }, /Ed25519/],
    ["a key of 31 bytes", { kty: "OKP", crv: "Ed25519", x: x.slice(1) }, /32 bytes/],
    ["a key in a second spelling", { kty: "OKP", crv: "Ed25519", x: `${x.slice(0, -1)}p` }, /32 bytes/],
    ["a key with padding", { kty: "OKP", crv: "Ed25519", x: `${x}=` }, /32 bytes/],
    ["one good key beside a bad one", [{ kty: "OKP", crv: "Ed25519", x }, { kty: "RSA" }], /OKP/],
    ["a key set with more in it", { keys: [{ kty: "OKP", crv: "Ed25519", x }], proof: {} }, /not a key file/],
    ["null", null, /OKP/],
    ["a number", 1, /OKP/],
  ])("is not %s", async (_, k, said) => {
    const c = await signed(20);
    for (const line of ["verify a --keys k", "verify log --checkpoint c --keys k"])
      expect(await run(line, { a: denial, log, c, k })).toEqual(unusable(said));
  });
});

describe("a log that comes with a proof", () => {
  /** The log of a forger: in it nothing ran after the denial. */
  it("shows nothing by itself, whoever signed the proof", async () => {
    const a = { proof: denial, events: calls.log };
    const { exitCode, output } = await run("verify a --keys k", { a, k: publicKeyOf(owner) });
    expect(output).not.toMatch(/✓ level [13]/);
    expect(output).toMatch(/^~ level 1 +inclusion +unvouched: /m);
    expect(output).toMatch(/^~ level 3 +discharge +unvouched: /m);
    expect(exitCode).toBe(3);
  });

  it("is vouched for by a checkpoint of all of it, signed by a key that was given", async () => {
    const a = { proof: denial, events: calls.log };
    const root = (size: number): string =>
      printDigest(merkleRoot(calls.log.slice(0, size).map(({ hash }) => digestBytes(hash)!)));
    const { length } = calls.log;
    const c = await signed(length, owner, root(length));
    const files = { a, c, k: publicKeyOf(owner) };
    expect((await run("verify a --keys k --checkpoint c", files)).output).toMatch(/^✓ level 3 +discharge$/m);
    const part = await signed(length - 1, owner, root(length - 1));
    expect((await run("verify a --keys k --checkpoint c", { ...files, c: part })).output).toMatch(/^~ level 3/m);
    const other = await signed(length, forger, root(length));
    expect(await ends("verify a --keys k --checkpoint c", { ...files, c: other })).toBe(1);
    expect(await ends("verify a --keys k --checkpoint c", { ...files, c: await signed(20) })).toBe(1);
  });

  it("without any key leaves every level unvouched", async () => {
    const { input } = calls.calls.denied;
    const a = { proof: denial, events: calls.log, policy, tool: { manifest: calls.manifest }, input };
    expect(await ends("verify a", { a })).toBe(3);
  });
});

describe("a checkpoint", () => {
  const verify = (c: unknown, k: unknown = publicKeyOf(owner)) =>
    run("verify log --checkpoint c --keys k", { log, c, k });

  it("vouches for the log up to its end, when its key was given", async () => {
    const kid = await keyId(owner);
    expect(await verify(await signed(20))).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(new RegExp(`^✓ signature +of key ${kid}$`, "m")),
    });
    const { output } = await run("verify log --checkpoint c --keys k --json", {
      log,
      c: await signed(20),
      k: publicKeyOf(owner),
    });
    expect(JSON.parse(output)).toMatchObject({ verdict: "verified", vouchedBy: { kind: "key", kid } });
  });

  it("does not name its own signer", async () => {
    const c = await signed(20);
    const { exitCode, output } = await verify({ ...c, signature: { ...c.signature, kid: "the-owner" } });
    expect(output).not.toContain("the-owner");
    expect(exitCode).toBe(1);
    const unsigned = await run("verify log --checkpoint c", {
      log,
      c: { ...c, signature: { ...c.signature, kid: "the-owner" } },
    });
    expect(unsigned.exitCode).toBe(3);
    expect(unsigned.output).not.toContain("the-owner");
  });

  it("of a stranger is believed under no name", async () => {
    const c = await signed(20, forger);
    const swapped = { ...c, signature: { ...c.signature, kid: await keyId(owner) } };
    for (const each of [c, swapped, [await signed(12), c]]) expect(await verify(each)).toMatchObject({ exitCode: 1 });
  });

  it.each([0, 1, 19])("of %d events leaves the events behind them unvouched", async (size) => {
    const { exitCode, output } = await verify(await signed(size));
    expect(exitCode).toBe(3);
    expect(output).toMatch(/^Intact, but unvouched: /m);
    expect(await verify([await signed(size), await signed(20)])).toMatchObject({ exitCode: 0 });
  });

  it("of no event does not make an empty log a verified one", async () => {
    const files = { "e.jsonl": "", c: await signed(0), k: publicKeyOf(owner) };
    expect(await ends("verify e.jsonl --checkpoint c --keys k", files)).toBe(2);
  });
});

describe("what nobody signed", () => {
  it.each<[string, string, Record<string, unknown>]>([
    ["a log", "verify log", { log }],
    ["a list of events", "verify list", { list: eventsOf(records) }],
    ["a run", "verify a.keyhole", { "a.keyhole": writeRun({ entries: [] }) }],
  ])("is never verified: %s", async (_, line, files) => {
    expect(await run(line, files)).toMatchObject({
      exitCode: 3,
      output: expect.stringMatching(/^Intact, but unvouched: /m),
    });
    expect(JSON.parse((await run(`${line} --json`, files)).output)).toMatchObject({
      verdict: "unvouched",
      vouchedBy: { kind: "nobody" },
    });
  });
});

import {
  type Checkpoint,
  digestBytes,
  merkleRoot,
  printDigest,
  type TrustedKeys,
  verifyAudit,
  verifyCheckpoint,
} from "@keyhole/kernel/audit";
import { checkpointSigner, createProofKey, keyId, type ProofKey } from "@keyhole/kernel/policy";
import { beforeAll, describe, expect, it } from "vitest";
import { trusting } from "../support/trusted.ts";
import { wholeLog } from "../support/whole-log.ts";
import { linesOf, recordsOf } from "./log-of.ts";

const records = await recordsOf(20);
const lines = linesOf(records);
const time = "2026-01-01T00:00:00.000Z";
const rootOf = (size: number): string =>
  printDigest(merkleRoot(records.slice(0, size).map(({ hash }) => digestBytes(hash)!)));
const foreign = { verdict: "broken", reason: "No trusted key signed it." };

let key: ProofKey;
let stranger: ProofKey;
let trusted: TrustedKeys;
let checkpoint: Checkpoint;
const signed = async (size: number): Promise<Checkpoint> =>
  (await checkpointSigner(key))({ origin: "shop", size, root: rootOf(size), time });
beforeAll(async () => {
  [key, stranger] = [await createProofKey(), await createProofKey()];
  trusted = await trusting(key);
  checkpoint = await signed(12);
});

describe("a checkpoint", () => {
  it("is believed of the key that signed it, and unchanged only", async () => {
    const copy: unknown = JSON.parse(JSON.stringify(checkpoint));
    const state = { origin: "shop", size: 12, root: rootOf(12), time };
    const verified = { verdict: "verified", vouchedBy: { kind: "key", kid: await keyId(key) }, checkpoint: state };
    expect(await verifyCheckpoint(copy, trusted)).toEqual(verified);
    expect(await verifyCheckpoint(copy, await trusting(stranger, key))).toEqual(verified);
    expect(await verifyCheckpoint(copy, await trusting(stranger))).toEqual(foreign);
    expect(await verifyCheckpoint(copy)).toEqual({
      verdict: "unvouched",
      vouchedBy: { kind: "nobody", reason: expect.stringContaining("Signature not checked") },
      checkpoint: state,
    });
    const { signature } = checkpoint;
    for (const changed of [
      { ...checkpoint, size: 11 },
      { ...checkpoint, origin: "shops" },
      { ...checkpoint, root: rootOf(11) },
      { ...checkpoint, root: rootOf(12).slice(0, -1) },
      { ...checkpoint, root: `${rootOf(12)}0` },
      { ...checkpoint, time: "2026-01-01T00:00:00.001Z" },
      { ...checkpoint, note: "more" },
      { ...checkpoint, signature: { ...signature, value: "0".repeat(128) } },
      { ...checkpoint, signature: { ...signature, alg: "none" } },
      { ...checkpoint, signature: { ...signature, kid: await keyId(stranger) } },
      { ...checkpoint, signature: [signature] },
      null,
      [],
    ])
      for (const keys of [trusted, await trusting(stranger, key)])
        expect(await verifyCheckpoint(changed, keys)).toMatchObject({ verdict: "broken" });
  });

  it("rotates together with the key that signs proofs", async () => {
    const next = await createProofKey();
    expect(await verifyCheckpoint(checkpoint, await trusting(next, key))).toMatchObject({ verdict: "verified" });
    expect(await verifyCheckpoint(checkpoint, await trusting(next))).toEqual(foreign);
  });

  it("vouches for the log that it was taken of, as far as it goes", async () => {
    const options = { checkpoints: [checkpoint], trusted };
    expect(await verifyAudit(lines.slice(0, 12), options)).toMatchObject({
      verdict: "verified",
      vouchedBy: { kind: "key", kid: await keyId(key) },
      checkpoint: { origin: "shop", size: 12, time },
      vouchedEvents: 12,
    });
    for (const size of [13, 20])
      expect(await verifyAudit(lines.slice(0, size), options)).toMatchObject({
        verdict: "unvouched",
        events: size,
        vouchedEvents: 12,
        vouchedBy: {
          reason: `The last checkpoint covers 12 of ${size} events. No signature covers the later events.`,
        },
      });
    const more = { checkpoints: [await signed(20), await signed(0), checkpoint], trusted };
    expect(await verifyAudit(lines, more)).toMatchObject({ verdict: "verified", vouchedEvents: 20 });
    expect(await verifyAudit(lines, { checkpoints: [await signed(20)] })).toMatchObject({
      verdict: "unvouched",
      vouchedEvents: 0,
    });
    expect((await wholeLog(lines)).root).toBe(rootOf(20));
  });

  it("of a stranger is a fault, also beside one that fits", async () => {
    const other = await (await checkpointSigner(stranger))({ origin: "shop", size: 20, root: rootOf(20), time });
    for (const checkpoints of [[other], [await signed(20), other], [{}], [null]])
      expect(await verifyAudit(lines, { checkpoints, trusted })).toMatchObject({ verdict: "broken", events: 0 });
  });

  it("shows that a log was cut", async () => {
    for (const size of [0, 1, 11]) {
      const check = await verifyAudit(lines.slice(0, size), { checkpoints: [checkpoint], trusted });
      expect(check).toMatchObject({
        verdict: "broken",
        seq: size,
        reason: expect.stringContaining("cut"),
      });
    }
  });

  it("shows that a log was written again, and does not take a piece for the whole", async () => {
    const other = linesOf(await recordsOf(20));
    expect(await verifyAudit(other)).toMatchObject({ verdict: "unvouched" });
    for (const options of [{ checkpoints: [checkpoint] }, { checkpoints: [checkpoint], trusted }]) {
      expect(await verifyAudit(other, options)).toMatchObject({ verdict: "broken", seq: 12 });
      expect(await verifyAudit(lines.slice(5), options)).toMatchObject({ verdict: "broken" });
    }
  });
});

import {
  type Checkpoint,
  digestBytes,
  merkleRoot,
  printDigest,
  signCheckpoint,
  verifyAudit,
  verifyCheckpoint,
} from "@keyhole/kernel/audit";
import { beforeAll, describe, expect, it } from "vitest";
import { linesOf, recordsOf } from "./log-of.ts";

const records = await recordsOf(20);
const lines = linesOf(records);
const time = "2026-01-01T00:00:00.000Z";
const rootOf = (size: number): string =>
  printDigest(merkleRoot(records.slice(0, size).map(({ hash }) => digestBytes(hash)!)));

let keys: CryptoKeyPair;
let stranger: CryptoKeyPair;
let checkpoint: Checkpoint;
beforeAll(async () => {
  keys = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  stranger = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  checkpoint = await signCheckpoint({ origin: "shop", size: 12, root: rootOf(12), time }, keys.privateKey, "k1");
});

describe("a checkpoint", () => {
  it("is believed of the key that signed it, and unchanged only", async () => {
    const copy: unknown = JSON.parse(JSON.stringify(checkpoint));
    expect(await verifyCheckpoint(copy, keys.publicKey)).toEqual({ ok: true, checkpoint });
    expect(await verifyCheckpoint(copy, stranger.publicKey)).toMatchObject({ ok: false });
    for (const changed of [
      { ...checkpoint, size: 11 },
      { ...checkpoint, origin: "shops" },
      { ...checkpoint, root: rootOf(11) },
      { ...checkpoint, time: "2026-01-01T00:00:00.001Z" },
      { ...checkpoint, note: "more" },
      { ...checkpoint, signature: { ...checkpoint.signature, value: "0".repeat(128) } },
      { ...checkpoint, signature: { ...checkpoint.signature, alg: "none" } },
      null,
      [],
    ])
      expect(await verifyCheckpoint(changed, keys.publicKey)).toMatchObject({ ok: false });
  });

  it("fits the log that it was taken of, also when that has grown", async () => {
    for (const size of [12, 13, 20])
      expect(await verifyAudit(lines.slice(0, size), { checkpoints: [checkpoint] })).toMatchObject({
        ok: true,
        events: size,
      });
    const whole = await verifyAudit(lines);
    expect(whole.ok && whole.root).toBe(rootOf(20));
  });

  it("shows that a log was cut", async () => {
    for (const size of [0, 1, 11]) {
      const check = await verifyAudit(lines.slice(0, size), { checkpoints: [checkpoint] });
      expect(check).toMatchObject({ ok: false, seq: size === 0 ? null : size, reason: expect.stringContaining("cut") });
    }
  });

  it("shows that a log was written again, and does not take a piece for the whole", async () => {
    const other = linesOf(await recordsOf(20));
    expect(await verifyAudit(other)).toMatchObject({ ok: true });
    expect(await verifyAudit(other, { checkpoints: [checkpoint] })).toMatchObject({ ok: false, seq: 12 });
    expect(await verifyAudit(lines.slice(5), { checkpoints: [checkpoint] })).toMatchObject({ ok: false });
  });
});

import { blake3Hash, type EventRecord } from "@keyhole/kernel";
import { type Checkpoint, digestBytes, lineOf, merkleRoot, printDigest, verifyAudit } from "@keyhole/kernel/audit";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../packages/worker-host/src/node/command.ts";
import { filesOf } from "../support/command-files.ts";
import { eventsOf, linesOf, recordsOf } from "../audit/log-of.ts";

const records = await recordsOf(8);
const written = linesOf(records);
const events = eventsOf(records);

const nothing = printDigest(merkleRoot([]));
const checkpoint = (size: number, root: string): Checkpoint => ({
  v: 1,
  origin: "shop",
  size,
  root,
  time: "2026-01-01T00:00:00Z",
  signature: { alg: "Ed25519", kid: "k", value: "0".repeat(128) },
});
const whole = checkpoint(8, printDigest(merkleRoot(events.map(({ hash }) => digestBytes(hash)!))));
const longer = checkpoint(9, nothing);
const other = checkpoint(3, `blake3:${"1".repeat(64)}`);

describe("a checkpoint of a log without events", () => {
  const early = checkpoint(0, nothing);

  it.each([
    ["that the log was cut", [early, longer]],
    ["that it was rewritten", [early, other]],
  ])("does not hide %s", async (_, checkpoints) => {
    expect(await verifyAudit(events, { checkpoints })).toMatchObject({ ok: false });
    expect(await verifyAudit(written, { checkpoints: checkpoints.toReversed() })).toMatchObject({ ok: false });
  });

  it("fits every log from its beginning, and none of another root or size", async () => {
    expect(await verifyAudit(events, { checkpoints: [early, whole] })).toMatchObject({ ok: true });
    expect(await verifyAudit([], { checkpoints: [early] })).toMatchObject({ ok: true, events: 0 });
    for (const wrong of [checkpoint(0, other.root), checkpoint(-1, other.root), checkpoint(Number.NaN, other.root)]) {
      expect(await verifyAudit(events, { checkpoints: [wrong, whole] })).toMatchObject({ ok: false });
      expect(await verifyAudit([], { checkpoints: [wrong] })).toMatchObject({ ok: false });
    }
  });
});

describe("an event that is withheld", () => {
  const place = ({ seq, prev, hash }: (typeof events)[number]): object => ({ v: 1, seq, prev, hash, withheld: true });
  const with3 = (event: object): readonly unknown[] => events.with(3, event as (typeof events)[number]);

  it("is a place in the chain", async () => {
    expect(await verifyAudit(with3(place(events[3]!)), { withheld: true })).toMatchObject({ ok: true, withheld: 1 });
  });

  it.each([
    ["a payload", { ...events[3]!, payload: { mode: "NORMAL" }, withheld: true }],
    ["a type", { ...place(events[3]!), type: "tool.failed" }],
    ["openings", { ...place(events[3]!), openings: [] }],
  ])("cannot carry %s, which nothing covers", async (_, event) => {
    expect(await verifyAudit(with3(event), { withheld: true })).toMatchObject({ ok: false, seq: 3 });
    const lines = with3(event).map((each) => JSON.stringify(each));
    expect(await verifyAudit(lines, { withheld: true })).toMatchObject({ ok: false, seq: 3 });
  });
});

describe("a line that two readers read differently", () => {
  /** As somebody writes it who can hash, and writes other texts than canonical ones. */
  const rewritten = (change: (body: string) => string, by = blake3Hash): readonly string[] => {
    let prev: string = by.zero;
    return records.map((record, i): string => {
      const body = record.body.replace(/"prev":"[^"]+"/, `"prev":"${prev}"`);
      const text = i === 2 ? change(body) : body;
      const made: EventRecord = { seq: i, body: text, hash: by.text(text) };
      prev = made.hash;
      return lineOf(made);
    });
  };

  it.each([blake3Hash, sha256Hash])("is not in a log that is rewritten as it should be: $algorithm", async (by) => {
    expect(await verifyAudit(rewritten((body) => body, by))).toMatchObject({ ok: true });
  });

  it.each<[string, (body: string) => string]>([
    ["names a member twice", (body) => body.replace("{", '{"type":"tool.failed",')],
    ["names one twice within", (body) => body.replace('"payload":{', '"payload":{"granted":["net.read"],')],
    ["names it twice in another spelling", (body) => body.replace("{", '{"typ\\u0065":"tool.failed",')],
  ])("because it %s is refused, hashed or not", async (_, change) => {
    expect(await verifyAudit(rewritten(change))).toMatchObject({
      ok: false,
      seq: 2,
      reason: "It names a member twice.",
    });
    expect(await verifyAudit(written.with(2, change(written[2]!)))).toMatchObject({
      ok: false,
      seq: 2,
      reason: "It names a member twice.",
    });
  });

  it.each<[string, (body: string) => string]>([
    ["in another order", (body) => body.replace(/^\{(.*),"v":1\}$/, '{"v":1,$1}')],
    ["with spaces", (body) => body.replace(":", ": ")],
    ["with another number", (body) => body.replace('"v":1', '"v":1.0')],
    ["with an escape", (body) => body.replace('"type"', '"typ\\u0065"')],
  ])("because it was hashed %s is one that was changed", async (_, change) => {
    expect(await verifyAudit(rewritten(change))).toMatchObject({ ok: false, seq: 2 });
    // The same verdict as over the events themselves.
    expect(await verifyAudit(rewritten(change).map((line) => JSON.parse(line) as unknown))).toMatchObject({
      ok: false,
      seq: 2,
    });
  });

  it("is none where texts hold colons, quotes and backslashes", async () => {
    const text = String.raw`a:"b\":c\\","d":{e}`;
    const change = (body: string): string =>
      body.replace(/"sessionId":(?:null|"[^"]*")/, `"sessionId":${JSON.stringify(text)}`);
    const lines = rewritten(change);
    expect(await verifyAudit(lines)).toMatchObject({ ok: true });
    expect(await verifyAudit(lines.map((line) => ` ${line}`))).toMatchObject({ ok: true });
  });
});

it.each([
  ["a list of events", (log: string) => `[${log}]`],
  ["a page of the HTTP API", (log: string) => `{"events":[${log}],"next":8}`],
  ["a proof", () => '{"decision":"deny","decision":"allow"}'],
])("keyhole verify does not take %s that names a member twice", async (_, document) => {
  const log = written.with(2, written[2]!.replace("{", '{"type":"tool.failed",')).join();
  expect(await runCommand(["verify", "a"], filesOf({ a: document(log) }))).toEqual({
    exitCode: 2,
    output: "a names a member twice: what it says depends on who reads it.\n",
  });
});

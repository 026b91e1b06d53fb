import {
  type AuditEvent,
  blake3Hash,
  type CapabilityRequest,
  createKernel,
  type EventRecord,
  type IsolateHost,
  verifyChain,
} from "@keyhole/kernel";
import { type Checkpoint, digestBytes, lineOf, merkleRoot, printDigest, verifyAudit } from "@keyhole/kernel/audit";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { eventsOf, linesOf, recordsOf } from "../audit/log-of.ts";
import { ioOf } from "../support/command-files.ts";
import { echo, expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { hostOpening } from "../support/module-host.ts";

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

describe("a checkpoint of an empty log", () => {
  const early = checkpoint(0, nothing);

  it.each([
    ["that the log was truncated", [early, longer]],
    ["that the log was rewritten", [early, other]],
  ])("does not hide %s", async (_, checkpoints) => {
    expect(await verifyAudit(events, { checkpoints })).toMatchObject({ verdict: "broken" });
    expect(await verifyAudit(written, { checkpoints: checkpoints.toReversed() })).toMatchObject({ verdict: "broken" });
  });

  it("matches every log from its first event, and no other root or size", async () => {
    expect(await verifyAudit(events, { checkpoints: [early, whole] })).toMatchObject({ verdict: "unvouched" });
    expect(await verifyAudit([], { checkpoints: [early] })).toMatchObject({ verdict: "inconclusive", events: 0 });
    for (const wrong of [checkpoint(0, other.root), checkpoint(-1, other.root), checkpoint(Number.NaN, other.root)]) {
      expect(await verifyAudit(events, { checkpoints: [wrong, whole] })).toMatchObject({ verdict: "broken" });
      expect(await verifyAudit([], { checkpoints: [wrong] })).toMatchObject({ verdict: "broken" });
    }
  });
});

describe("a withheld event", () => {
  const place = ({ seq, prev, hash }: (typeof events)[number]): object => ({ v: 1, seq, prev, hash, withheld: true });
  const with3 = (event: object): readonly unknown[] => events.with(3, event as (typeof events)[number]);

  it("keeps its place in the chain", async () => {
    expect(await verifyAudit(with3(place(events[3]!)), { withheld: true })).toMatchObject({
      verdict: "unvouched",
      withheld: 1,
    });
  });

  it.each([
    ["a payload", { ...events[3]!, payload: { mode: "NORMAL" }, withheld: true }],
    ["a type", { ...place(events[3]!), type: "tool.failed" }],
    ["openings", { ...place(events[3]!), openings: [] }],
  ])("with %s, which no hash covers, is refused", async (_, event) => {
    expect(await verifyAudit(with3(event), { withheld: true })).toMatchObject({ verdict: "broken", seq: 3 });
    const lines = with3(event).map((each) => JSON.stringify(each));
    expect(await verifyAudit(lines, { withheld: true })).toMatchObject({ verdict: "broken", seq: 3 });
  });
});

describe("a line that two parsers read differently", () => {
  /** The log of a forger who computes every hash again, over texts that are not canonical. */
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

  it.each([blake3Hash, sha256Hash])(
    "does not occur in a log with canonical lines, hashed with $algorithm",
    async (by) => {
      expect(await verifyAudit(rewritten((body) => body, by))).toMatchObject({ verdict: "unvouched" });
    },
  );

  it.each<[string, (body: string) => string]>([
    ["names a member twice", (body) => body.replace("{", '{"type":"tool.failed",')],
    [
      "names a member of its payload twice",
      (body) => body.replace('"payload":{', '"payload":{"granted":["net.read"],'),
    ],
    ["names a member twice in two spellings", (body) => body.replace("{", '{"typ\\u0065":"tool.failed",')],
  ])("that %s is refused, with the old hashes and with new ones", async (_, change) => {
    expect(await verifyAudit(rewritten(change))).toMatchObject({
      verdict: "broken",
      seq: 2,
      reason: expect.stringContaining("twice"),
    });
    expect(await verifyAudit(written.with(2, change(written[2]!)))).toMatchObject({
      verdict: "broken",
      seq: 2,
      reason: expect.stringContaining("twice"),
    });
  });

  it.each<[string, (body: string) => string]>([
    ["with its members in another order", (body) => body.replace(/^\{(.*),"v":1\}$/, '{"v":1,$1}')],
    ["with spaces", (body) => body.replace(":", ": ")],
    ["with another notation of a number", (body) => body.replace('"v":1', '"v":1.0')],
    ["with an escaped letter", (body) => body.replace('"type"', '"typ\\u0065"')],
  ])("%s that was hashed as it is counts as changed", async (_, change) => {
    expect(await verifyAudit(rewritten(change))).toMatchObject({ verdict: "broken", seq: 2 });
    // The same verdict as over the events themselves.
    expect(await verifyAudit(rewritten(change).map((line) => JSON.parse(line) as unknown))).toMatchObject({
      verdict: "broken",
      seq: 2,
    });
  });

  it("may contain colons, quotes and backslashes in its texts", async () => {
    const text = String.raw`a:"b\":c\\","d":{e}`;
    const change = (body: string): string =>
      body.replace(/"sessionId":(?:null|"[^"]*")/, `"sessionId":${JSON.stringify(text)}`);
    const lines = rewritten(change);
    expect(await verifyAudit(lines)).toMatchObject({ verdict: "unvouched" });
    expect(await verifyAudit(lines.map((line) => ` ${line}`))).toMatchObject({ verdict: "unvouched" });
  });
});

describe("keyhole verify", () => {
  it.each([
    ["a list of events", (log: string) => `[${log}]`],
    ["a page of the HTTP API", (log: string) => `{"events":[${log}],"next":8}`],
    ["a proof", () => '{"decision":"deny","decision":"allow"}'],
  ])("refuses %s that names a member twice", async (_, document) => {
    const log = written.with(2, written[2]!.replace("{", '{"type":"tool.failed",')).join();
    expect(await runCommand(["verify", "a"], ioOf({ a: document(log) }))).toEqual({
      exitCode: 2,
      output: "",
      errorOutput: "a has a duplicate member, so JSON parsers disagree about its value.\n",
    });
  });
});

describe("verifyChain of a log", () => {
  it.each([
    ["null", null],
    ["text", "event"],
    ["an event with a bigint", { seq: 1n }],
    ["an event with a seq that throws", Object.defineProperty({}, "seq", { get: fail, enumerable: true })],
    ["an event with text as its seq", { seq: "0", prev: "", hash: "" }],
  ])("with %s as its event is refused without an exception", (_, event) => {
    expect(verifyChain([event as unknown as AuditEvent])).toMatchObject({ ok: false });
  });
});

/** A host whose guest sends this request. */
function hostThatAsks(request: unknown): IsolateHost {
  const open: IsolateHost["open"] = async () => ({
    alive: true,
    terminate: () => {},
    async call(_, port) {
      const reply = await port.request(request as CapabilityRequest);
      return { kind: "returned", output: { form: "json", text: JSON.stringify(reply.ok ? "" : reply.error.code) } };
    },
  });
  return hostOpening("asking", open, { sources: ["inline"], brokers: [filesBroker(memoryStore())] });
}

describe("the log", () => {
  it("stays whole when a caller writes to the events and the proof that it receives", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    const result = await kernel.call(
      "echo",
      { message: "x" },
      {
        onEvent: (event) => {
          Reflect.set(event, "seq", 7);
          Reflect.set(event.payload, "tool", "another");
        },
      },
    );
    Reflect.set(result.proof!, "decision", "deny");
    Reflect.set(result.proof!.determining, "0", { ruleId: "forged", ruleHash: "" });
    await expectSoundLog(kernel);
  });

  it.each([
    ["a lone surrogate", "\ud800"],
    ["100,000 characters long", "x".repeat(100_000)],
  ])("records a request whose operation is %s as refused, in a bounded entry", async (_, operation) => {
    const host = hostThatAsks({ kind: "fs.read", operation, arguments: { path: "a" } });
    const kernel = await createKernel({ host, policy: openPolicy });
    kernel.registerTrusted(toolOf(() => 1));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: "INVALID_REQUEST" });
    const used = (await kernel.audit.read()).filter(({ type }) => type === "capability.used");
    expect(used).toMatchObject([{ payload: { outcome: "refused" } }]);
    expect(JSON.stringify(used).length).toBeLessThan(2_000);
    await expectSoundLog(kernel);
  });
});

function fail(): never {
  throw new Error("read me not");
}

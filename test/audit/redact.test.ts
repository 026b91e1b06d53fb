import {
  type AuditEvent,
  type ContentStore,
  createKernel,
  eventOf,
  type Kernel,
  memorySink,
  type PolicyDocument,
} from "@keyhole/kernel";
import { commitmentOf, disclose, type DisclosedEvent, erase, redact, verifyAudit } from "@keyhole/kernel/audit";
import { checkpointSigner, createProofKey } from "@keyhole/kernel/policy";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { contentStore } from "@keyhole/worker-host/content";
import { beforeEach, describe, expect, it } from "vitest";
import { expectSoundLog, toolOf } from "../support/kernel.ts";
import { trusting } from "../support/trusted.ts";
import { wholeLog } from "../support/whole-log.ts";

const policy: PolicyDocument = {
  version: "1",
  posture: "permissive",
  tools: { subject: { keep: { input: ["/name", "/address", "/absent"], output: [""] } } },
};
const subject = toolOf(({ name }: { name: string }) => ({ greeting: `hello ${name}` }));
const ada = { name: "Ada L.", address: { street: "Long Lane", city: "York" }, other: "not kept" };

let content: ContentStore;
let kernel: Kernel;
let log: readonly AuditEvent[];
let shown: readonly DisclosedEvent[];

async function collected(): Promise<DisclosedEvent[]> {
  const events: DisclosedEvent[] = [];
  for await (const event of disclose(log, content)) events.push(event);
  return events;
}

beforeEach(async () => {
  content = contentStore(memoryStore());
  kernel = await createKernel({ policy, content });
  kernel.registerTrusted(subject);
  await kernel.call("subject", ada);
  await kernel.call("subject", { name: "Ada L." });
  log = await kernel.audit.read();
  shown = await collected();
});

describe("a value that is too large to be kept", () => {
  const bench = async (maxBytes: number) => {
    let runs = 0;
    const large = await createKernel({ policy, content: contentStore(memoryStore(), { maxBytes }) });
    large.registerTrusted(toolOf(({ name }: { name: string }) => [name, ++runs].join("\u0001".repeat(100))));
    return { large, runs: () => runs };
  };
  const refused = {
    ok: false,
    error: { code: "BOUNDS_EXCEEDED", details: { bound: "keep", limit: 300 }, retryable: false },
  } as const;

  it("is the end of its call: an input's before anything runs, an output's after; and the log goes on", async () => {
    const { large, runs } = await bench(300);
    const input = await large.call("subject", { name: "Ada L.".repeat(50) });
    expect(input).toMatchObject({
      ...refused,
      error: { ...refused.error, message: expect.stringContaining("/input/name") },
    });
    expect(runs()).toBe(0);
    // In the log's JSON each of its characters takes six.
    const output = await large.call("subject", { name: "Ada L." });
    expect(output).toMatchObject({
      ...refused,
      error: { ...refused.error, message: expect.stringContaining("/output") },
    });
    expect(runs()).toBe(1);
    const events = await large.audit.read();
    expect(events.flatMap(({ type }) => (/^tool\.(blocked|failed)$/.test(type) ? type : []))).toEqual([
      "tool.blocked",
      "tool.failed",
    ]);
    expect(await verifyAudit(events)).toMatchObject({ verdict: "unvouched" });
    await expectSoundLog(large);
  });

  it("is none at the limit, and one past it nothing else of the call is kept either", async () => {
    const room = 300 - JSON.stringify({ path: "/input/name", salt: "0".repeat(32), value: "" }).length;
    const { large } = await bench(300);
    await large.call("subject", { name: "x".repeat(room), address: "York" });
    await large.call("subject", { name: "x".repeat(room + 1), address: "York" });
    const kept = (await large.audit.read()).filter(({ type }) => type === "data.kept");
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({ payload: { commitments: { "/input/address": expect.any(String) } } });
  });
});

describe("a value that the policy keeps", () => {
  it("is in the log as a commitment only, under a salt of its own", async () => {
    await expectSoundLog(kernel);
    const text = JSON.stringify(log);
    for (const word of ["Ada L.", "York", "hello", "not kept"]) expect(text).not.toContain(word);
    const kept = log.filter((event) => event.type === "data.kept");
    expect(kept.map(({ payload }) => Object.keys(payload.commitments))).toEqual([
      ["/input/address", "/input/name"],
      ["/output"],
      ["/input/name"],
      ["/output"],
    ]);
    const digests = kept.flatMap(({ payload }) => Object.values(payload.commitments));
    expect(new Set(digests).size).toBe(5); // The same name twice is two digests.
  });

  it("can be shown, and is proven to be the one", async () => {
    const values = shown.flatMap(({ openings = [] }) => openings.map(({ path, value }) => [path, value]));
    expect(values).toEqual([
      ["/input/address", ada.address],
      ["/input/name", "Ada L."],
      ["/output", { greeting: "hello Ada L." }],
      ["/input/name", "Ada L."],
      ["/output", { greeting: "hello Ada L." }],
    ]);
    expect(await verifyAudit(shown)).toMatchObject({ verdict: "unvouched", opened: 5, closed: 0, withheld: 0 });
    expect(await verifyAudit(shown.map((event) => JSON.stringify(event)))).toMatchObject({
      verdict: "unvouched",
      opened: 5,
    });
    expect(await verifyAudit(log)).toMatchObject({ verdict: "unvouched", opened: 0, closed: 5 });
  });

  it.each<[string, (event: DisclosedEvent) => unknown]>([
    ["another value", (event) => ({ ...event, openings: [{ ...event.openings![0]!, value: "eve" }] })],
    ["another salt", (event) => ({ ...event, openings: [{ ...event.openings![0]!, salt: "0".repeat(32) }] })],
    [
      "the value of another place",
      (event) => ({ ...event, openings: [{ ...event.openings![0]!, path: "/input/name" }] }),
    ],
    ["a place that was not kept", (event) => ({ ...event, openings: [{ path: "constructor", salt: "", value: 1 }] })],
    ["more in it", (event) => ({ ...event, openings: [{ ...event.openings![0]!, note: "" }] })],
    ["no list", (event) => ({ ...event, openings: { length: 0 } })],
    [
      "a commitment of its own",
      (event) => ({ ...event, payload: { commitments: { a: commitmentOf({ path: "a", salt: "", value: 1 }) } } }),
    ],
  ])("is refused with %s", async (_, change) => {
    const at = shown.findIndex(({ openings }) => openings?.[0]?.path === "/input/address");
    const changed = (shown as readonly unknown[]).with(at, change(shown[at]!));
    expect(await verifyAudit(changed)).toMatchObject({ verdict: "broken", seq: at });
  });

  it("cannot be shown by an event that committed to nothing", async () => {
    const opening = shown.flatMap(({ openings = [] }) => openings)[0]!;
    const changed = (shown as readonly unknown[]).with(1, { ...shown[1], openings: [opening] });
    expect(await verifyAudit(changed)).toMatchObject({ verdict: "broken", seq: 1 });
  });
});

describe("a log that is redacted", () => {
  it("still verifies, and says what was taken out", async () => {
    const { events, redacted } = redact(shown, { paths: ["/input/address/street"] });
    expect(redacted).toEqual([{ seq: expect.any(Number), path: "/input/address" }]);
    expect(JSON.stringify(events)).not.toContain("York");
    expect(await verifyAudit(events)).toMatchObject({ verdict: "unvouched", opened: 4, closed: 1 });
    const all = redact(shown, { paths: ["/input", "/output"] });
    expect(all.redacted).toHaveLength(5);
    expect(all.events).toEqual(log);
    const one = redact(shown, { paths: ["/input/name"], of: ({ seq }) => seq < 8 });
    expect(one.redacted).toHaveLength(1);
  });

  it("without whole events keeps their places, for those who take that", async () => {
    const { events, redacted } = redact(shown, { withhold: ({ type }) => type === "capability.checked" });
    expect(redacted).toEqual([{ seq: expect.any(Number) }, { seq: expect.any(Number) }]);
    expect(await verifyAudit(events)).toMatchObject({
      verdict: "broken",
      reason: expect.stringMatching(/^Event \d+ is withheld/),
    });
    expect(await verifyAudit(events, { withheld: true })).toMatchObject({
      verdict: "unvouched",
      withheld: 2,
      opened: 5,
    });
    const { root } = await wholeLog(log);
    expect(await verifyAudit(events, { withheld: true })).toMatchObject({ root });
    // Another event behind the same place breaks the chain.
    const at = redacted[0]!.seq;
    const forged = (events as readonly unknown[]).with(at, { ...events[at], hash: `blake3:${"1".repeat(64)}` });
    expect(await verifyAudit(forged, { withheld: true })).toMatchObject({ verdict: "broken", seq: at + 1 });
  });

  it("still has the root of its checkpoint", async () => {
    const key = await createProofKey();
    const { events: size, root } = await wholeLog(log);
    const state = { origin: "shop", size, root: root!, time: "2026-01-01T00:00:00.000Z" };
    const checkpoints = [await (await checkpointSigner(key))(state)];
    const { events } = redact(shown, { paths: ["/input"], withhold: ({ type }) => type === "tool.registered" });
    const trusted = await trusting(key);
    expect(await verifyAudit(events, { checkpoints, trusted, withheld: true })).toMatchObject({ verdict: "verified" });
  });
});

describe("a path that is no place of a kept value", () => {
  it.each(["input/to", "/to", "/inputs", "/input~", "/input/~2", "input"])(
    "takes out nothing, and throws: %s",
    async (path) => {
      expect(() => redact([], { paths: [path] })).toThrow(TypeError);
      await expect(erase([], { paths: ["/input", path] }, content)).rejects.toThrow("is no place of a kept value");
    },
  );

  it("is another one than the place of all", () => {
    expect(redact([], { paths: ["", "/output", "/input/a~1b/0"] })).toEqual({ events: [], redacted: [] });
  });
});

describe("a value that is erased", () => {
  it("cannot be opened any more, and the log stands", async () => {
    const erased = await erase(log, { paths: ["/input/name"] }, content);
    expect(erased).toHaveLength(2);
    expect(await content.get(erased[0]!)).toBeUndefined();
    const after = await collected();
    expect(await verifyAudit(after)).toMatchObject({ verdict: "unvouched", opened: 3, closed: 2 });
  });

  it("and one that was changed in the store is not shown", async () => {
    const [digest] = await erase(log, { paths: ["/input/address"] }, content);
    await content.put(digest!, new TextEncoder().encode('{"path":"/input/address","salt":"","value":"forged"}'));
    expect(JSON.stringify(await collected())).not.toContain("forged");
  });
});

describe("a kernel whose policy keeps values", () => {
  it("is refused without a content store, also when the policy comes later", async () => {
    await expect(createKernel({ policy })).rejects.toThrow("INVALID_POLICY at /tools/subject/keep");
    const bare = await createKernel();
    expect(await bare.setPolicy(policy)).toMatchObject({
      ok: false,
      error: { code: "INVALID_POLICY", path: "/tools/subject/keep" },
    });
  });

  it("runs nothing when the store fails, and nothing afterwards", async () => {
    let runs = 0;
    const sink = memorySink();
    const failing: ContentStore = { ...content, put: async () => Promise.reject(new Error("ENOSPC")) };
    const closed = await createKernel({ policy, content: failing, sink });
    closed.registerTrusted(toolOf(() => ++runs));
    closed.registerTrusted(toolOf(() => ++runs, { name: "another" }));
    for (const name of ["subject", "another"])
      expect(await closed.call(name, ada)).toMatchObject({ ok: false, error: { code: "AUDIT_UNAVAILABLE" } });
    expect(runs).toBe(0);
    // What was written is sound, and the next kernel ends what was left open.
    const next = await createKernel({ sink });
    await expectSoundLog(next);
    expect((await sink.read(0, 100)).map(eventOf).some(({ type }) => type === "tool.started")).toBe(false);
  });

  it("keeps nothing of an output that is bytes, and of calls without input", async () => {
    const bytes = await createKernel({ policy, content });
    bytes.registerTrusted(toolOf(() => new Uint8Array(3), { output: { kind: "binary" } }));
    expect(await bytes.call("subject", {})).toMatchObject({ ok: true });
    expect((await bytes.audit.read()).some(({ type }) => type === "data.kept")).toBe(false);
  });
});

import {
  type AuditEvent,
  type AuditSink,
  type Broker,
  createKernel,
  type EventRecord,
  type KernelOptions,
  memorySink,
  type ToolContext,
  verifyProofDigest,
} from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { inlineHost } from "@keyhole/kernel/inline";
import { callSuspender } from "@keyhole/kernel/suspend";
import { describe, expect, it } from "vitest";
import { expectSoundLog, granting, openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { suspendingKernel, testKey } from "../support/suspension.ts";

/*
 * What somebody else gives can change later, say something else of itself than it is, or be no answer at all. See also rereads.test.ts.
 */

describe("an approver", () => {
  it("that loosens its pattern after it answered has not loosened the approval, nor the proof", async () => {
    const pattern = [{ at: "/amount", atMost: 100 }];
    let asked = 0;
    const { kernel } = await openKernel({
      policy: { version: "1", posture: "standard" },
      approver: async () =>
        asked++ === 0
          ? { answer: "allow", scope: "pattern", pattern, approver: "ada" }
          : { answer: "deny", approver: "bob" },
    });
    kernel.registerTrusted(toolOf((input) => input, { tier: 2 }));
    const first = await kernel.call("subject", { amount: 5 }, { sessionId: "s" });
    expect(first).toMatchObject({ ok: true });
    pattern[0]!.atMost = 1e9;
    expect(await kernel.call("subject", { amount: 1_000_000 }, { sessionId: "s" })).toMatchObject({ ok: false });
    expect(await kernel.call("subject", { amount: 100 }, { sessionId: "s" })).toMatchObject({ ok: true });
    expect(asked).toBe(2);
    expect(verifyProofDigest(first.proof)).toEqual({ ok: true });
    expect(() => Object.assign(first.proof!.approval!.rule!.when.arguments![0]!, { atMost: 1e9 })).toThrow(TypeError);
  });
});

describe("a broker", () => {
  const files = { kind: "fs.read", paths: ["**"], totalBytes: 100 } as const;
  const reading = async (serve: Broker["serve"]) => {
    const needs: Broker["needs"] = () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] });
    const { kernel } = await openKernel({
      policy: granting(files),
      brokers: [{ families: [fsRead], needs, serve }],
    });
    const parts = { effects: ["fs.read"], capabilities: [files], determinism: "external" };
    kernel.registerTrusted(
      toolOf(async (_: never, context: ToolContext) => (await context.files.read("a")).length, parts),
    );
    const result = await kernel.call("subject", {});
    await expectSoundLog(kernel);
    return result;
  };

  class Fewer extends Uint8Array {
    override get byteLength(): number {
      return 0;
    }
  }

  it("whose bytes say that they are fewer is charged for what they are: at the bound and one past", async () => {
    expect(await reading(async () => ({ ok: true, value: null, body: new Fewer(100) }))).toMatchObject({ data: 100 });
    expect(await reading(async () => ({ ok: true, value: null, body: new Fewer(101) }))).toMatchObject({
      error: { code: "BOUNDS_EXCEEDED" },
    });
  });

  it.each([-1, Number.NaN, "1", { valueOf: () => 0 }])("that has used up %j is out of order", async (amount) => {
    const result = await reading(async (_, session) => {
      session.spend({ bytes: amount as number });
      return { ok: true, value: null, body: new Uint8Array(101) };
    });
    expect(result).toMatchObject({ ok: false, error: { message: "The capability is out of order." } });
  });
});

describe("a sink", () => {
  it("that changes the records which it was given changes them for nobody else", async () => {
    const kept: EventRecord[] = [];
    const memory = memorySink();
    const sink: AuditSink = {
      ...memory,
      append(records) {
        kept.push(...records.map((record) => ({ ...record })));
        for (const record of records) Object.assign(record, { body: "{}", hash: "none" });
        (records as EventRecord[]).length = 0;
      },
    };
    const { kernel } = await openKernel({ sink });
    const heard: AuditEvent[] = [];
    kernel.audit.subscribe((event) => heard.push(event));
    kernel.registerTrusted(toolOf(() => 1));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    expect(heard.map(({ hash }) => hash)).toEqual(kept.map(({ hash }) => hash));
  });
});

describe("a signer", () => {
  it("adds a signature and changes nothing else", async () => {
    const signature = { alg: "EdDSA", kid: "k", value: "v" } as const;
    const { kernel } = await openKernel({
      signer: { sign: async (proof) => ({ ...proof, decision: "deny", signature }) },
    });
    kernel.registerTrusted(toolOf(() => 1));
    const { proof } = await kernel.call("subject", {});
    expect(proof).toMatchObject({ decision: "allow", signature });
    expect(verifyProofDigest(proof)).toEqual({ ok: true });
  });

  it("that gives no signature gives a warning", async () => {
    const { kernel } = await openKernel({ signer: { sign: async (proof) => ({ ...proof, hash: "another" }) } });
    kernel.registerTrusted(toolOf(() => 1));
    const { proof, meta } = await kernel.call("subject", {});
    expect(meta.warnings).toEqual(["The kernel could not sign the proof."]);
    expect(verifyProofDigest(proof)).toEqual({ ok: true });
  });
});

describe("a suspender", () => {
  it.each([undefined, false])("whose claim gives %j resumes nothing", async (claimed) => {
    const host = inlineHost();
    const options = { tools: [], policy: openPolicy };
    const { kernel } = await suspendingKernel(host, options);
    kernel.registerTrusted(toolOf(() => 1, { approval: "always" }));
    const asked = Promise.withResolvers<string>();
    const onEvent = ({ type, callId }: AuditEvent): void => {
      if (type === "approval.requested") asked.resolve(callId!);
    };
    void kernel.call("subject", {}, { onEvent, approver: () => new Promise(() => {}) });
    const suspension = await kernel.suspend(await asked.promise);
    if (!suspension.ok) throw new Error(suspension.error.message);
    const claim = async (): Promise<boolean> => claimed as boolean;
    const other = await createKernel({ policy: openPolicy, suspender: callSuspender({ key: testKey, claim }) });
    other.registerTrusted(toolOf(() => 1, { approval: "always" }));
    expect(await other.resume(suspension.bytes)).toMatchObject({ ok: false, error: { code: "SNAPSHOT_REFUSED" } });
  });
});

describe("options of a kernel", () => {
  it.each<[string, object]>([
    ["a reuse that there is none of", { reuse: { run_code: "sometimes" } }],
    [
      "a trigger to a mode that there is none of",
      { modeTriggers: [{ on: "errors", codes: [], count: 1, windowMs: 1, to: "CALM" }] },
    ],
    ["no list of brokers", { brokers: {} }],
    ["a broker without kinds", { brokers: [{}] }],
    ["a host without a name", { host: { sources: [], brokers: [] } }],
  ])("with %s are a bug of the program", async (_, options) => {
    await expect(createKernel(options as KernelOptions)).rejects.toThrow(TypeError);
  });
});

it("a purity that is checked NaN times is checked", async () => {
  const { kernel } = await openKernel();
  let runs = 0;
  kernel.registerTrusted(toolOf(() => runs++));
  expect(await kernel.verifyPure("subject", [{}], Number.NaN)).toMatchObject({ ok: false, kind: "varies" });
});

import { type Broker, createKernel, type IsolateOutcome, limits } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { expectSoundLog, granting, openPolicy, toolOf } from "../support/kernel.ts";
import { hostOpening, packed } from "../support/module-host.ts";

/** Fails so often, then answers. */
function flakyFiles(failures: number): Broker & { served: number } {
  const broker = {
    served: 0,
    families: [fsRead],
    needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] }) as const,
    serve: async () =>
      ++broker.served <= failures
        ? ({ ok: false, error: { code: "UNAVAILABLE", message: "Away.", hint: "" } } as const)
        : ({ ok: true, value: null, body: new Uint8Array([1]) } as const),
  };
  return broker;
}

const reads = (more: Record<string, unknown> = {}) =>
  toolOf(
    async (_: never, { files }: { files: { read(path: string): Promise<Uint8Array> } }) =>
      (await files.read("a")).length,
    {
      effects: ["fs.read"],
      determinism: "external",
      capabilities: [{ kind: "fs.read", paths: ["**"] }],
      idempotent: true,
      ...more,
    },
  );

async function open(failures: number, more: Record<string, unknown> = {}) {
  const clock = new FakeClock();
  const broker = flakyFiles(failures);
  const policy = granting({ kind: "fs.read", paths: ["**"] });
  const kernel = await createKernel({ policy, clock, brokers: [broker] });
  kernel.registerTrusted(reads(more));
  return { kernel, clock, broker };
}

it("a call for a file that does not exist runs once, and is not worth repeating", async () => {
  const kernel = await createKernel({
    policy: granting({ kind: "fs.read", paths: ["**"] }),
    clock: new FakeClock(),
    brokers: [filesBroker(memoryStore())],
  });
  kernel.registerTrusted(reads());
  expect(await kernel.call("subject", {})).toMatchObject({
    error: { code: "TOOL_ERROR", message: '"a" does not exist.', retryable: false },
    meta: { attempts: 1 },
  });
  const used = (await kernel.audit.read()).find(({ type }) => type === "capability.used");
  expect(used?.payload).toMatchObject({ outcome: "failed" });
});

describe("a call whose run fails for a reason that passes", () => {
  it("runs again if its tool is idempotent, and every run is on record", async () => {
    const { kernel, clock, broker } = await open(2);
    const call = kernel.call("subject", {});
    await clock.advance(limits.retryMs * 5);
    expect(await call).toMatchObject({ ok: true, data: 1, effects: ["fs.read"], meta: { attempts: 3 } });
    expect(broker.served).toBe(3);
    const types = (await kernel.audit.read()).map(({ type, payload }) => [
      type,
      (payload as { attempt?: number }).attempt,
    ]);
    expect(types.filter(([type]) => /^tool\.(?:started|retried|completed)$/.test(String(type)))).toEqual([
      ["tool.started", undefined],
      ["tool.retried", 2],
      ["tool.retried", 3],
      ["tool.completed", undefined],
    ]);
    const uses = (await kernel.audit.read()).filter(({ type }) => type === "capability.used");
    expect(uses.map(({ payload }) => (payload as { index: number }).index)).toEqual([0, 1, 2]);
    await expectSoundLog(kernel);
  });

  it("gives up after the last attempt", async () => {
    const { kernel, clock, broker } = await open(Infinity);
    const call = kernel.call("subject", {});
    await clock.advance(10_000);
    expect(await call).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" }, meta: { attempts: limits.attempts } });
    expect(broker.served).toBe(limits.attempts);
  });

  it.each([
    ["whose tool does not say that it is idempotent", { idempotent: false }],
    ["that has no time left", { bounds: { timeoutMs: limits.retryMs } }],
  ])("and %s runs once", async (_, more) => {
    const { kernel, clock, broker } = await open(Infinity, more);
    const call = kernel.call("subject", {});
    await clock.advance(10_000);
    expect(await call).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" }, meta: { attempts: 1 } });
    expect(broker.served).toBe(1);
  });

  it("does not run again when it fails for good", async () => {
    let runs = 0;
    const clock = new FakeClock();
    const kernel = await createKernel({ policy: openPolicy, clock });
    const bug = () => {
      runs++;
      throw new Error("bug");
    };
    kernel.registerTrusted(toolOf(bug, { idempotent: true }));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
    expect(runs).toBe(1);
  });

  it("ends when its caller cancels between two runs", async () => {
    const { kernel, clock, broker } = await open(Infinity);
    const controller = new AbortController();
    const call = kernel.call("subject", {}, { signal: controller.signal });
    await settle();
    await clock.advance(limits.retryMs - 1);
    controller.abort();
    expect(await call).toMatchObject({ ok: false, error: { code: "CANCELLED" }, meta: { attempts: 1 } });
    expect(broker.served).toBe(1);
    expect(clock.pendingTimers).toBe(1); // that of the idle isolate
    await expectSoundLog(kernel);
  });

  it("does not run again when the policy changes between two runs", async () => {
    const { kernel, clock, broker } = await open(Infinity);
    const call = kernel.call("subject", {});
    await settle();
    await clock.advance(limits.retryMs - 1);
    await kernel.setPolicy({ version: "1", posture: "strict" });
    await clock.advance(1);
    expect(await call).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(broker.served).toBe(1);
    await expectSoundLog(kernel);
  });

  it("shares one budget and one deadline among its runs", async () => {
    const { kernel, clock } = await open(Infinity, { bounds: { timeoutMs: 150 } });
    const call = kernel.call("subject", {});
    await clock.advance(10_000);
    expect(await call).toMatchObject({ ok: false, meta: { attempts: 2, durationMs: 100 } });
  });
});

describe("a lost isolate", () => {
  const lost: IsolateOutcome = { kind: "lost", reason: "crashed" };
  const answer: IsolateOutcome = { kind: "returned", output: { form: "json", text: "1" } };

  async function run(isUsed: boolean, idempotent = true) {
    const clock = new FakeClock();
    let runs = 0;
    const kernel = await createKernel({
      clock,
      policy: granting({ kind: "fs.read", paths: ["**"] }),
      brokers: [flakyFiles(0)],
      host: hostOpening("crashing", async () => {
        let alive = true;
        return {
          get alive() {
            return alive;
          },
          terminate: () => (alive = false),
          call: async (_, port) => {
            if (isUsed) await port.request({ kind: "fs.read", operation: "read", arguments: { path: "a" } });
            if (++runs > 1) return answer;
            alive = false;
            return lost;
          },
        };
      }),
    });
    kernel.register(packed(reads({ idempotent })));
    const call = kernel.call("subject", {});
    await clock.advance(1_000);
    return call;
  }

  it("is replaced while the tool had touched nothing", async () => {
    expect(await run(false)).toMatchObject({ ok: true, data: 1, meta: { attempts: 2 } });
  });

  it("is not replaced once it had: what it did is not known", async () => {
    expect(await run(true)).toMatchObject({ ok: false, error: { code: "ISOLATE_LOST" }, meta: { attempts: 1 } });
  });

  it("is not replaced for a tool that is not idempotent", async () => {
    expect(await run(false, false)).toMatchObject({
      ok: false,
      error: { code: "ISOLATE_LOST" },
      meta: { attempts: 1 },
    });
  });
});

import { createKernel, memorySink } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

describe("labels", () => {
  const policy = {
    version: "1",
    posture: "standard",
    labels: { untrusted: { tools: ["reader"] }, secret: { tools: ["vault"], implies: ["private"] }, private: {} },
    rules: [
      {
        id: "no-leak",
        effect: "deny",
        when: { tool: ["sender"], labels: ["untrusted", "private"] },
        reason: "The session has seen too much.",
      },
    ],
  };
  const open = async () => {
    const bench = await openKernel({ policy });
    for (const name of ["reader", "vault", "sender"])
      bench.kernel.registerTrusted(
        toolOf(
          () => {
            if (name === "vault") throw new Error("x");
            return 1;
          },
          { name },
        ),
      );
    return bench.kernel;
  };
  it("flow through a session, and only through that", async () => {
    const kernel = await open();
    const sends = async (sessionId: string) => (await kernel.call("sender", {}, { sessionId })).ok;
    expect(await sends("s")).toBe(true);
    expect(await kernel.call("reader", {}, { sessionId: "s" })).toMatchObject({
      ok: true,
      proof: { obligations: ["label:untrusted"] },
    });
    expect(await sends("s")).toBe(false);
    expect(await sends("t")).toBe(true);
    const result = await kernel.call("sender", {}, { sessionId: "s" });
    expect(result.proof?.stateReads).toContainEqual({ key: "labels", value: "untrusted" });
  });
  it("belong to a session of one caller: another caller poisons and reads none", async () => {
    const kernel = await open();
    await kernel.call("reader", {}, { caller: "eve", sessionId: "s" });
    const decisionOf = async (caller: string) =>
      (await kernel.preview("sender", {}, { caller, sessionId: "s" })).decision;
    expect([await decisionOf("eve"), await decisionOf("ada")]).toEqual(["deny", "allow"]);
    await kernel.call("reader", {}, { caller: "ada", sessionId: "s" });
    expect(await decisionOf("ada")).toBe("deny");
  });
  it("imply each other, and stay when the tool fails", async () => {
    const kernel = await open();
    expect((await kernel.call("vault", {}, { sessionId: "s" })).ok).toBe(false);
    expect(await kernel.call("sender", {}, { sessionId: "s" })).toMatchObject({
      ok: false,
      proof: { determining: [{ ruleId: "no-leak" }] },
    });
  });
});

describe("the mode changes by itself", () => {
  const resources = { on: "errors", codes: ["TIMEOUT"], count: 2, windowMs: 1_000, to: "DEGRADED" } as const;
  it("when resources run short, on record, and not back", async () => {
    const { kernel, clock, events } = await openKernel({ modeTriggers: [resources, { ...resources, to: "ALERT" }] });
    kernel.registerTrusted(toolOf(() => new Promise(() => {}), { bounds: { timeoutMs: 10 } }));
    const time = async () => {
      const call = kernel.call("subject", {});
      await clock.advance(10);
      await call;
    };
    await time();
    expect(kernel.mode).toBe("NORMAL");
    await clock.advance(1_000);
    await time();
    expect(kernel.mode).toBe("NORMAL");
    await time();
    expect(kernel.mode).toBe("DEGRADED");
    expect((await events()).findLast(({ type }) => type === "mode.changed")).toMatchObject({
      payload: { mode: "DEGRADED", previous: "NORMAL", reason: "2 calls ended with TIMEOUT within 1 s." },
    });
    await time();
    await time();
    expect(kernel.mode).toBe("DEGRADED");
  });

  it("when too many calls fail; refused and cancelled ones are no failures", async () => {
    const { kernel } = await openKernel({
      modeTriggers: [{ on: "failure-rate", ratio: 0.5, minCalls: 4, windowMs: 60_000, to: "ALERT" }],
    });
    let fail = false;
    kernel.registerTrusted(
      toolOf(() => {
        if (fail) throw new Error("x");
        return 1;
      }),
    );
    kernel.registerTrusted(toolOf(() => 1, { name: "refused", tier: 4 }));
    for (let i = 0; i < 10; i++) await kernel.call("refused", {});
    await kernel.call("subject", {});
    await kernel.call("subject", {});
    fail = true;
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("NORMAL");
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("ALERT");
  });

  it("never to one that there is none of", async () => {
    await expect(createKernel({ mode: "PANIC" as never })).rejects.toThrow("There is no mode");
    const kernel = await createKernel();
    await expect(kernel.setMode("constructor" as never, "x")).rejects.toThrow(TypeError);
    expect(kernel.mode).toBe("NORMAL");
  });

  it("to LOCKDOWN on a log that was tampered with", async () => {
    const first = memorySink();
    const before = await createKernel({ sink: first });
    before.registerTrusted(toolOf(() => 1));
    await before.call("subject", {});
    const events = (await first.read(0, 100)).map((record, at) =>
      at === 1 ? { ...record, body: record.body.replace('"caller":"anonymous"', '"caller":"somebody"') } : record,
    );
    expect(events[1]?.body).toContain("somebody");
    const second = memorySink();
    await second.append(events);
    const after = await createKernel({ sink: second });
    expect(after.mode).toBe("LOCKDOWN");
    expect((await after.audit.read()).at(-1)).toMatchObject({ type: "mode.changed", payload: { mode: "LOCKDOWN" } });
    expect((await createKernel({ sink: first })).mode).toBe("NORMAL");
  });
});

import { limits, type ToolCallAnswer } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog } from "../support/kernel.ts";
import { calling, type Context, fakeNet, leaf, openCalling, openCalls, outer, toolWith } from "../support/nested.ts";

describe("what bounds calls from within", () => {
  const self = (more: Record<string, unknown> = {}) =>
    calling(
      "self",
      async ({ left }: { left: number }, { tools }) => {
        if (left === 0) return 0;
        const answer: ToolCallAnswer | { code: string } = await tools
          .call("self", { left: left - 1 })
          .catch(({ code }: { code: string }) => ({ code }));
        if ("code" in answer) return answer.code;
        return answer.ok ? (typeof answer.data === "number" ? answer.data + 1 : answer.data) : answer.error.code;
      },
      { bounds: { concurrency: 64 }, ...more },
    );

  it("is their depth", async () => {
    const { kernel } = await openCalling([self()]);
    expect(await kernel.call("self", { left: limits.nestedDepth })).toMatchObject({ data: limits.nestedDepth });
    expect(await kernel.call("self", { left: limits.nestedDepth + 1 })).toMatchObject({ data: "BOUNDS_EXCEEDED" });
    await expectSoundLog(kernel);
  });

  it("is the concurrency of a tool that calls itself: it does not wait for a slot that its own callers hold", async () => {
    const { kernel, clock } = await openCalling([self({ bounds: { concurrency: 6 } })]);
    expect(await kernel.call("self", { left: 2 })).toMatchObject({ data: 2 });
    expect(await kernel.call("self", { left: 3 })).toMatchObject({ data: "BOUNDS_EXCEEDED" });
    expect(clock.monotonicMs()).toBe(1_000);
    await expectSoundLog(kernel);
  });

  it("is the number that one call leads to, however they are spread", async () => {
    let runs = 0;
    const fan = calling("fan", async (_, { tools }) => {
      let done = 0;
      for (;;) {
        try {
          await tools.call("half");
          done++;
        } catch (error) {
          return { done, code: (error as { code: string }).code };
        }
      }
    });
    const half = calling("half", async (_, { tools }) => {
      await tools.call("inner");
      return 1;
    });
    const many = { bounds: { callsPerHour: 1_000_000 } };
    const { kernel } = await openCalling([fan, toolWith(half, many), leaf("inner", () => runs++, many)]);
    expect(await kernel.call("fan", {})).toMatchObject({
      data: { done: limits.nestedCalls / 2, code: "BOUNDS_EXCEEDED" },
    });
    expect(runs).toBe(limits.nestedCalls / 2);
    expect(await kernel.call("half", {})).toMatchObject({ ok: true });
  });

  it("is the network budget of the call around them", async () => {
    const grants = [...openCalls.grants, { tool: "inner", capability: { kind: "net.read", hosts: ["a.example"] } }];
    const fetches = leaf("inner", async (_: never, { fetch }: Context) => (await fetch("https://a.example/")).status, {
      effects: ["net.read"],
      capabilities: [{ kind: "net.read", hosts: ["*"] }],
    });
    const thrice = calling(
      "thrice",
      async (_, { tools }) => {
        const codes: unknown[] = [];
        for (let i = 0; i < 3; i++) {
          const answer = await tools.call("inner");
          codes.push(answer.ok ? answer.data : answer.error.code);
        }
        return codes;
      },
      { bounds: { networkRequests: 2 } },
    );
    const { kernel } = await openCalling([thrice, fetches], { policy: { ...openCalls, grants }, brokers: [fakeNet()] });
    const result = await kernel.call("thrice", {});
    const network = { networkRequests: 2, networkBytes: 20 };
    expect(result).toMatchObject({ data: [200, 200, "BOUNDS_EXCEEDED"], meta: network });
    expect((await kernel.audit.read()).at(-1)?.payload).toMatchObject(network);
  });

  it("is the deadline of the call around them, at which they end as well, on record before it", async () => {
    const { kernel, clock } = await openCalling([
      toolWith(outer, { bounds: { timeoutMs: 100 } }),
      leaf("inner", () => new Promise(() => {})),
    ]);
    const call = kernel.call("outer", {});
    await clock.advance(100);
    expect(await call).toMatchObject({ ok: false, error: { code: "TIMEOUT" }, meta: { durationMs: 100 } });
    const ends = (await kernel.audit.read()).filter(({ type }) => type === "tool.failed");
    expect(ends.map(({ payload }) => (payload as { code: string }).code)).toEqual(["CANCELLED", "TIMEOUT"]);
    await expectSoundLog(kernel);
  });

  it("is the end of the call around them, also where it does not wait for them", async () => {
    let signal: AbortSignal | undefined;
    const forgets = calling("outer", async (_, { tools }) => {
      void tools.call("inner").catch(() => {});
      await settle();
      return "done";
    });
    const waits = leaf("inner", (_: never, context: Context) => ((signal = context.signal), new Promise(() => {})));
    const { kernel } = await openCalling([forgets, waits]);
    expect(await kernel.call("outer", {})).toMatchObject({ ok: true, data: "done" });
    expect(signal?.aborted).toBe(true);
    await expectSoundLog(kernel);
  });

  it("is the caller who cancels: both are told, and both have their grace", async () => {
    const told: string[] = [];
    const tells =
      (name: string) =>
      (_: never, { signal, tools }: Context) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => (told.push(name), resolve(name)));
          if (name === "outer") void tools.call("inner").catch(() => {});
        });
    const controller = new AbortController();
    const { kernel } = await openCalling([calling("outer", tells("outer")), leaf("inner", tells("inner"))]);
    const call = kernel.call("outer", {}, { signal: controller.signal });
    await settle();
    await settle();
    controller.abort();
    expect(await call).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(told.toSorted()).toEqual(["inner", "outer"]);
    await expectSoundLog(kernel);
  });
});

it("calls of two trees that wait for each other's slots end", async () => {
  const one = { bounds: { concurrency: 1 } };
  const ab = calling("a", async (_, { tools }) => (await settle(), tools.call("b", { leaf: true })), one);
  const ba = calling(
    "b",
    async (input: { leaf?: boolean }, { tools }) => (await settle(), input.leaf ? 1 : tools.call("a")),
    one,
  );
  const { kernel, clock } = await openCalling([ab, ba]);
  const calls = [kernel.call("a", {}), kernel.call("b", {})];
  for (let i = 0; i < 5; i++) await settle();
  await clock.advance(limits.nestedWaitMs);
  await settle();
  await clock.advance(1);
  const results = await Promise.all(calls);
  expect(JSON.stringify(results)).toContain("RATE_LIMITED");
  await expectSoundLog(kernel);
});

it("a broker learns the caller and the call from outside, also of a request of a nested call", async () => {
  const net = fakeNet();
  const seen: unknown[] = [];
  const serve: typeof net.serve = (request, session) => {
    seen.push([session.caller, session.outermostId]);
    return net.serve(request, session);
  };
  const capability = { kind: "net.read", hosts: ["a.example"] } as const;
  const asks = leaf("inner", (_, { fetch }: Context) => fetch("https://a.example/").then(() => 1), {
    effects: ["net.read"],
    capabilities: [capability],
  });
  const grants = [...openCalls.grants, { tool: "inner", capability }];
  const { kernel } = await openCalling([outer, asks], {
    policy: { ...openCalls, grants },
    brokers: [{ ...net, serve }],
  });
  const { callId } = await kernel.call("outer", {}, { caller: "ada" });
  expect(seen).toEqual([["ada", callId]]);
});

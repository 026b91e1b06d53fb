import { limits } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog } from "../support/kernel.ts";
import { calling, type Context, leaf, openCalling, openCalls, outer } from "../support/nested.ts";

/** Calls `name` and returns the code of the outcome. */
const asks = (name: unknown, input: unknown = {}) =>
  calling("hostile", (_, { tools }) =>
    tools.call(name as string, input).then(
      (answer) => (answer.ok ? "ok" : answer.error.code),
      ({ code, name: kind }: { code?: string; name: string }) => code ?? kind,
    ),
  );

describe("a tool that calls tools", () => {
  it.each([
    ["a prototype's name", "__proto__", "TOOL_NOT_FOUND"],
    ["a constructor's name", "constructor", "TOOL_NOT_FOUND"],
    ["a method's name", "toString", "TOOL_NOT_FOUND"],
    ["an empty name", "", "INVALID_REQUEST"],
    ["a name with a version", "inner@1.0.0", "INVALID_REQUEST"],
    ["a pattern", "*", "INVALID_REQUEST"],
    ["a name with a line end", "inner\n", "INVALID_REQUEST"],
    ["a name of another script", "innеr", "INVALID_REQUEST"],
    ["a very long name", "i".repeat(10_000), "INVALID_REQUEST"],
    ["a lone surrogate", "\ud800", "INVALID_REQUEST"],
    ["an object", { toString: (): string => "inner" }, "ok"],
    ["a list", ["inner"], "ok"],
    ["undefined", undefined, "TOOL_NOT_FOUND"],
  ])("by %s gets an answer and keeps the log sound", async (_, name, expected) => {
    const { kernel } = await openCalling([asks(name), leaf("inner", () => 1)]);
    expect(await kernel.call("hostile", {})).toMatchObject({ ok: true, data: expected });
    await expectSoundLog(kernel);
  });

  const deep = (levels: number): unknown => (levels === 0 ? 0 : [deep(levels - 1)]);
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);

  it.each([
    ["a function", () => 1, "INVALID_REQUEST"],
    ["a cycle", cyclic, "INVALID_REQUEST"],
    ["a getter that throws", Object.defineProperty({}, "x", { enumerable: true, get: fail }), "INVALID_REQUEST"],
    ["an own __proto__", JSON.parse('{"__proto__":{"admin":true}}'), "INVALID_REQUEST"],
    ["an object 5,000 levels deep", deep(5_000), "INVALID_REQUEST"],
    ["text over the input limit", { text: "x".repeat(limits.inputBytes) }, "INVALID_INPUT"],
    ["text", "x", "INVALID_INPUT"],
    ["a list", [], "INVALID_INPUT"],
    ["null", null, "INVALID_INPUT"],
  ])("with %s as input runs nothing", async (_, input, expected) => {
    let runs = 0;
    const { kernel } = await openCalling([asks("inner", input), leaf("inner", () => runs++)]);
    expect(await kernel.call("hostile", {})).toMatchObject({ ok: true, data: expected });
    expect(runs).toBe(0);
    await expectSoundLog(kernel);
  });

  it("sees no name of a tool that it may not call", async () => {
    const grants = [{ tool: "*", capability: { kind: "tool.call", tools: ["inne*"] } }];
    const spies = calling("hostile", async (_, { tools }) => JSON.stringify(await tools.call("innes")));
    const secret = [leaf("inner", () => 1), leaf("inno", () => 1), leaf("finance_transfer", () => 1)];
    const { kernel } = await openCalling([spies, ...secret], { policy: { ...openCalls, grants } });
    const result = await kernel.call("hostile", {});
    const said = result.ok ? String(result.data) : "";
    expect(said).toContain('"nearest":["inner"]');
    expect(said).not.toContain("inno");
    expect(said).not.toContain("finance");
  });

  it("starts a bounded number of 10,000 calls at once", async () => {
    let runs = 0;
    const flood = calling("hostile", async (_, { tools }) => {
      const codes = await Promise.all(
        Array.from({ length: 10_000 }, () =>
          tools.call("inner").then(
            () => "ran",
            ({ code }: { code: string }) => code,
          ),
        ),
      );
      return Object.fromEntries([...Map.groupBy(codes, (code) => code)].map(([code, all]) => [code, all.length]));
    });
    const inner = leaf("inner", () => ++runs, { bounds: { concurrency: 64, callsPerHour: 1_000_000 } });
    const { kernel } = await openCalling([flood, inner]);
    expect(await kernel.call("hostile", {})).toMatchObject({
      data: { ran: limits.requestsInFlight, BOUNDS_EXCEEDED: 10_000 - limits.requestsInFlight },
    });
    expect(runs).toBe(limits.requestsInFlight);
    await expectSoundLog(kernel);
  });

  it("that forks at every level ends within its deadline", async () => {
    let runs = 0;
    const bomb = calling(
      "hostile",
      async (_, { tools }) => {
        runs++;
        await Promise.all(Array.from({ length: 16 }, () => tools.call("hostile").catch(() => {})));
        return 0;
      },
      { bounds: { concurrency: 64, callsPerHour: 1_000_000, timeoutMs: 60_000 } },
    );
    const { kernel, clock } = await openCalling([bomb]);
    const call = kernel.call("hostile", {});
    let done = false;
    void call.then(() => (done = true));
    for (let i = 0; i < 200 && !done; i++) await clock.advance(limits.nestedWaitMs);
    expect((await call).meta.durationMs).toBeLessThanOrEqual(60_000);
    expect(runs).toBeLessThanOrEqual(limits.nestedCalls + 1);
    await expectSoundLog(kernel);
  });

  it("in a circle of two ends with BOUNDS_EXCEEDED", async () => {
    const to = (name: string, next: string) =>
      calling(name, (_, { tools }) => tools.call(next).then((answer) => (answer.ok ? answer.data : answer.error.code)));
    const { kernel } = await openCalling([to("ping", "pong"), to("pong", "ping")]);
    const result = await kernel.call("ping", {});
    expect(JSON.stringify(result)).toContain("BOUNDS_EXCEEDED");
    await expectSoundLog(kernel);
  });

  it("cannot call one after its own call has ended", async () => {
    let late: Context["tools"] | undefined;
    let runs = 0;
    const keeps = calling("hostile", (_, { tools }) => ((late = tools), 1));
    const { kernel } = await openCalling([keeps, leaf("inner", () => runs++)]);
    await kernel.call("hostile", {});
    await expect(late!.call("inner")).rejects.toMatchObject({ code: "CAPABILITY_DENIED" });
    await settle();
    expect(runs).toBe(0);
    await expectSoundLog(kernel);
  });

  it("cannot pass its own grants to a nested call", async () => {
    const inner = leaf("inner", () => 1, {
      effects: ["fs.read"],
      capabilities: [{ kind: "fs.read", paths: ["**"] }],
    });
    const { kernel } = await openCalling([outer, inner]);
    expect(await kernel.call("outer", {})).toMatchObject({
      data: { ok: false, error: { code: "CAPABILITY_DENIED" } },
    });
    expect(
      await kernel.call(
        "outer",
        {},
        {
          grants: [
            { kind: "tool.call", tools: ["*"] },
            { kind: "fs.read", paths: ["**"] },
          ],
        },
      ),
    ).toMatchObject({ data: { ok: false, error: { code: "CAPABILITY_DENIED" } } });
  });

  it("together with its nested calls sends its caller at most 1,000 messages", async () => {
    const inner = leaf(
      "inner",
      (_, { log, progress }: { log: (line: string) => void; progress: (p: object) => void }) => {
        for (let i = 0; i < 600; i++) log(`line ${i}`);
        progress({ done: 1 });
        return null;
      },
    );
    const outer = calling("outer", async (_, { tools }) => {
      for (let i = 0; i < 3; i++) await tools.call("inner");
      return null;
    });
    const { kernel } = await openCalling([inner, outer]);
    const lines: string[] = [];
    const progress: unknown[] = [];
    const listeners = {
      onLog: ({ message }: { readonly message: string }) => void lines.push(message),
      onProgress: (each: unknown) => void progress.push(each),
    };
    expect(await kernel.call("outer", {}, listeners)).toMatchObject({ ok: true });
    expect(lines.slice(0, 2)).toEqual(["line 0", "line 1"]);
    expect(progress).toEqual([{ done: 1 }]);
    expect(lines.length + progress.length).toBe(1_000);
  });
});

function fail(): never {
  throw new Error("read me not");
}

import { runPipeline } from "@keyhole/kernel/pipeline";
import { describe, expect, it } from "vitest";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

async function open(options: Parameters<typeof openKernel>[0] = {}) {
  const bench = await openKernel(options);
  const runs: unknown[] = [];
  const add = (name: string, execute: (input: never) => unknown, more: Record<string, unknown> = {}) =>
    bench.kernel.registerTrusted(
      toolOf((input: never) => (runs.push(input), execute(input)), { name, determinism: "external", ...more }),
    );
  add("give", (input) => input);
  add("fail", () => {
    throw new Error("boom");
  });
  add("bytes", () => new Uint8Array([1]), { output: { kind: "binary" } });
  return { ...bench, runs, add };
}

const give = (id: string, input: unknown = {}) => ({ id, tool: "give", input });

describe("a pipeline", () => {
  it("gives each step what earlier ones gave, in one session under one span", async () => {
    const { kernel, events } = await open();
    const done = await runPipeline(kernel, [
      give("a", { items: [{ "x/y": 7 }], n: null }),
      give("b", { one: { $from: "a#/items/0/x~1y" }, all: [{ $from: "a#" }], none: { $from: "a#/n" } }),
    ]);
    const a = { items: [{ "x/y": 7 }], n: null };
    expect(done).toMatchObject({ ok: true, data: { one: 7, all: [a], none: null }, steps: [{ id: "a" }, { id: "b" }] });
    const invoked = (await events()).filter(({ type }) => type === "call.invoked");
    expect(new Set(invoked.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(new Set(invoked.map(({ traceparent }) => traceparent?.slice(0, 35))).size).toBe(1);
    await expectSoundLog(kernel);
  });

  it("stops at the first failure and says where", async () => {
    const { kernel, runs } = await open();
    const done = await runPipeline(kernel, [give("a"), { id: "b", tool: "fail", input: {} }, give("c")]);
    expect(done).toMatchObject({ ok: false, kind: "failed", id: "b", path: "/1", error: { code: "TOOL_ERROR" } });
    expect(done.steps.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(runs).toHaveLength(2);
  });

  it("asks for each step that needs a yes, and a no ends it", async () => {
    const answers = [true, false];
    const approver = async () =>
      answers.shift()
        ? ({ answer: "allow", approver: "ada", scope: "once" } as const)
        : ({ answer: "deny", approver: "ada" } as const);
    const { kernel, add, runs } = await open({ approver });
    add("asks", () => 1, { approval: "always" });
    const asks = (id: string) => ({ id, tool: "asks", input: {} });
    const done = await runPipeline(kernel, [asks("a"), asks("b"), asks("c")]);
    expect(done).toMatchObject({ ok: false, id: "b", error: { code: "APPROVAL_DENIED" } });
    expect(runs).toHaveLength(1);
  });

  it("runs once under an idempotency key", async () => {
    const { kernel, runs } = await open();
    const steps = [give("a", { n: 1 }), give("b", { n: { $from: "a#/n" } })];
    for (let i = 0; i < 2; i++)
      expect(await runPipeline(kernel, steps, { idempotencyKey: "k" })).toMatchObject({ ok: true });
    expect(runs).toHaveLength(2);
  });

  it.each([
    ["a value that is not there", { $from: "a#/nope" }, "/1/input/x"],
    ["a property of every object", { $from: "a#/constructor" }, "/1/input/x"],
    ["the length of a list", { $from: "a#/list/length" }, "/1/input/x"],
    ["bytes", { $from: "raw#" }, "/2/input/x"],
  ])("stops before a step that refers to %s", async (what, x, path) => {
    const { kernel } = await open();
    const raw = { id: "raw", tool: "bytes", input: {} };
    const steps = [give("a", { list: [1] }), ...(what === "bytes" ? [raw] : []), give("z", { x })];
    expect(await runPipeline(kernel, steps)).toMatchObject({
      ok: false,
      kind: "failed",
      id: "z",
      path,
      error: undefined,
    });
  });
});

const cyclic: unknown[] = [];
cyclic.push(cyclic);

describe("a pipeline that is not one", () => {
  it.each<[string, unknown, string]>([
    ["nothing", undefined, ""],
    ["no steps", [], ""],
    ["too many steps", Array.from({ length: 101 }, (_, i) => give(`s${i}`)), ""],
    ["a cycle of data", cyclic, "/0"],
    ["an unknown tool", [give("a"), { id: "b", tool: "nope", input: {} }], "/1/tool"],
    ["a prototype's name as tool", [{ id: "a", tool: "__proto__", input: {} }], "/0/tool"],
    ["two steps of one name", [give("a"), give("a")], "/1/id"],
    ["a reference forwards", [give("a", { x: { $from: "b#" } }), give("b")], "/0/input/x"],
    ["a reference to itself", [give("a", [{ $from: "a#" }])], "/0/input/0"],
    ["a reference without a pointer", [give("a"), give("b", { x: { $from: "a" } })], "/1/input/x"],
    ["a pointer with a bad escape", [give("a"), give("b", { x: { $from: "a#/~2" } })], "/1/input/x"],
    ["a reference with more in it", [give("a"), give("b", { x: { $from: "a#", y: 1 } })], "/1/input/x"],
    ["a reference that is no text", [give("a"), give("b", { x: { $from: 1 } })], "/1/input/x"],
    ["an unknown property", [{ ...give("a"), then: 1 }], "/0"],
  ])("runs nothing: %s", async (_, steps, path) => {
    const { kernel, runs, events } = await open();
    const done = await runPipeline(kernel, steps);
    expect(done).toMatchObject({ ok: false, kind: "invalid", steps: [] });
    if (!done.ok) expect(done.path.startsWith(path)).toBe(true);
    expect(runs).toEqual([]);
    expect((await events()).some(({ type }) => type === "call.invoked")).toBe(false);
  });
});

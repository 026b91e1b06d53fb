import type { CallOptions, ToolPackage } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";

function packaged(body: string, before = ""): ToolPackage {
  const code = `${before} export default { code: { execute(input, context) { ${body} } } };`;
  return packed(
    toolOf(() => null, { bounds: { timeoutMs: 60_000 } }),
    code,
  );
}

describe("kernel.verifyPure, in an isolate that a session shares,", () => {
  let host: ReturnType<typeof nodeHost>;
  beforeAll(() => {
    host = nodeHost();
  });
  afterAll(() => host.close());
  const check = async (tool: ToolPackage) => {
    const { kernel } = await openKernel({ host });
    expect(kernel.register(tool)).toMatchObject({ ok: true });
    return kernel.verifyPure("subject", [{ n: 1 }], 2);
  };

  it.each<[string, ToolPackage]>([
    ["counts its calls", packaged("return count++;", "let count = 0;")],
    ["remembers its inputs", packaged("const before = last; last = input.n; return before;", "let last = 0;")],
    [
      "counts its calls only at the time 0 of every call",
      packaged("return Date.now() === 0 ? count++ : 0;", "let count = 0;"),
    ],
    [
      "recognizes call ids that no kernel makes",
      packaged('return context.callId.includes("-7") ? context.callId : 0;'),
    ],
    [
      "recognizes session ids by their length",
      packaged("return context.sessionId.length === 36 ? context.sessionId : 0;"),
    ],
    ["fails every second time", packaged("if (count++ % 2) throw new Error(); return 1;", "let count = 0;")],
  ])("finds a tool that %s", async (_, tool) => {
    expect(await check(tool)).toMatchObject({ ok: false, kind: "varies", input: 0 });
  });

  it("accepts a tool whose outcome never varies, also one that always fails", async () => {
    expect(await check(packaged("count++; return input.n * 2;", "let count = 0;"))).toEqual({ ok: true, runs: 2 });
    expect(await check(packaged('throw new Error("always");'))).toEqual({ ok: true, runs: 2 });
  });
});

/** Declares that it is pure, and remembers its input: one memory per isolate, as a module has. */
function liar() {
  const definition = toolOf(() => null, { name: "liar" });
  const host = moduleHost();
  const open: typeof host.open = async (tool) => {
    let memory = "empty";
    const isolate = await moduleHost(
      toolOf(({ remember }: { remember?: string }) => (remember === undefined ? memory : (memory = remember)), {
        name: "liar",
      }),
    ).open(tool);
    return isolate;
  };
  return { packed: packed(definition), host: { ...host, open } };
}

async function openLiar() {
  const { packed: tool, host } = liar();
  const { kernel } = await openKernel({ host });
  kernel.register(tool);
  const ask = async (input: object, options: CallOptions) => {
    const result = await kernel.call("liar", input, options);
    return result.ok ? result.data : result.error.code;
  };
  return { kernel, ask };
}

describe("the cached result of a tool that is not pure", () => {
  it("does not reach another session", async () => {
    const { ask } = await openLiar();
    await ask({ remember: "secret of ada" }, { caller: "ada", sessionId: "s" });
    expect(await ask({}, { caller: "ada", sessionId: "s" })).toBe("secret of ada");
    expect(await ask({}, { caller: "ada", sessionId: "t" })).toBe("empty");
    expect(await ask({}, { caller: "eve", sessionId: "s" })).toBe("empty");
    expect(await ask({}, {})).toBe("empty");
  });

  it("does not poison the results of other callers", async () => {
    const { ask } = await openLiar();
    await ask({ remember: "poison" }, { caller: "eve", sessionId: "s" });
    await ask({}, { caller: "eve", sessionId: "s" });
    for (const options of [
      {},
      { sessionId: "s" },
      { caller: "ada", sessionId: "s" },
      { caller: 'eve","s', sessionId: "" },
    ])
      expect(await ask({}, options)).toBe("empty");
  });
});

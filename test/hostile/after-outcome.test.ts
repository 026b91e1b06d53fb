import { ceilings } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { testEngine } from "../wasm/engine.ts";
import { callIn, callOf, openBody, toolOfModule } from "../wasm/run-body.ts";

const host = interpreterHost({ engine: await testEngine() });
const module = (top: string, body: string): string =>
  `${top}; export default { code: { async execute(input, context) { ${body} } } }`;
/** Some 40 million fuel. */
const work = "for (let i = 0; i < 300_000; i++);";

describe("work behind the outcome of a call", () => {
  it("ends its isolate, and the fuel that the call had left does not pay for it", async () => {
    const isolate = await openBody(
      host,
      `if (globalThis.done) return "went on"; Promise.resolve().then(async () => {
         for (let i = 0; i < 20; i++) await null;
         ${work} globalThis.done = true;
       }); return "first"`,
    );
    const first = await callIn(isolate, { fuel: 1_000_000_000 });
    expect(first.outcome).toMatchObject({ kind: "returned", output: { text: '"first"' } });
    // What one call of the shell takes, and far less than the work.
    expect(first.usage.fuelUsed).toBeLessThan(5_000_000);
    expect(first.alive).toBe(false);
  });

  it("is over before anybody hears of the outcome: no later call runs beside it", async () => {
    const isolate = await openBody(
      host,
      `(async () => { for (let i = 0; i < 20; i++) await null; for (;;) await null; })(); return 1`,
    );
    const { outcome, alive } = await callIn(isolate, { fuel: 1_000_000_000 });
    expect([outcome.kind, alive]).toEqual(["returned", false]);
  });

  it("of a call that returned is paid by the call that waited for it", async () => {
    const isolate = await host.open(
      toolOfModule(
        module(
          "const gate = Promise.withResolvers()",
          `if (input === "waits") { await gate.promise; for (let i = 0; i < 20; i++) await null; ${work} return "waited" }
           gate.resolve(); return "opened"`,
        ),
      ),
    );
    const waits = callIn(isolate, { inputText: '"waits"' });
    const opens = await callIn(isolate, { inputText: '"opens"' });
    const waited = await waits;
    expect([opens.outcome, waited.outcome]).toMatchObject([
      { output: { text: '"opened"' } },
      { output: { text: '"waited"' } },
    ]);
    expect(opens.usage.fuelUsed).toBeLessThan(5_000_000);
    expect(waited.usage.fuelUsed).toBeGreaterThan(20_000_000);
    expect(waited.alive).toBe(true);
  });

  it("of a call that returned ends by the bound of the call that waited for it", async () => {
    const isolate = await host.open(
      toolOfModule(
        module(
          "const gate = Promise.withResolvers()",
          `if (input === "waits") { await gate.promise; for (let i = 0; i < 20; i++) await null; for (;;); }
           gate.resolve(); return "opened"`,
        ),
      ),
    );
    const waits = callIn(isolate, { inputText: '"waits"', fuel: 50_000_000 });
    const opens = await callIn(isolate, { inputText: '"opens"', fuel: 1_000_000_000 });
    expect(opens.outcome.kind).toBe("returned");
    expect(await waits).toMatchObject({
      outcome: { kind: "out-of-fuel", limit: 50_000_000 },
      usage: { fuelUsed: 50_000_000 },
      alive: false,
    });
  });
});

describe("a module that is loaded", () => {
  const bounded = (code: string, memoryBytes: number): ReturnType<typeof toolOfModule> => {
    const tool = toolOfModule(code);
    return { ...tool, manifest: { ...tool.manifest, bounds: { ...tool.manifest.bounds, memoryBytes } } };
  };

  it("has the memory of its manifest", async () => {
    const hoard = module("const held = new Uint8Array(48 * 2 ** 20).fill(1)", "return held.length");
    await expect(host.open(bounded(hoard, 8 * 2 ** 20))).rejects.toMatchObject({ code: "TOOL_ERROR" });
    const isolate = await host.open(bounded(hoard, 64 * 2 ** 20));
    expect((await callIn(isolate, callOf({ memoryBytes: 64 * 2 ** 20 }))).outcome.kind).toBe("returned");
    expect(ceilings.memoryBytes).toBeGreaterThan(64 * 2 ** 20);
  });

  it("fails where it waits for what never comes", async () => {
    await expect(host.open(toolOfModule(module("await new Promise(() => {})", "return 1")))).rejects.toMatchObject({
      code: "TOOL_ERROR",
      message: expect.stringContaining("never comes"),
    });
  });
});

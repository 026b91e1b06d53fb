import { describe, expect, it } from "vitest";
import { meter } from "../../packages/worker-host/src/wasm/meter/meter.ts";
import { initialFuel, readFuel } from "../../packages/worker-host/src/wasm/meter/fuel-global.ts";
import { bindings } from "../edge/bindings.ts";
import { type Program, programs } from "./programs.ts";

/** A Worker compiles nothing from bytes; a dynamic one is given the module as a module. */
const runner = `
import { WorkerEntrypoint } from "cloudflare:workers";
import module from "./program.wasm";
export default class extends WorkerEntrypoint {
  run(names, fuelGlobal, argument) {
    const { exports } = new WebAssembly.Instance(module);
    exports[names.fuel].value = fuelGlobal;
    exports[names.pages].value = 1024;
    let value;
    let trapped = false;
    try {
      value = exports.run(argument);
    } catch {
      trapped = true;
    }
    return { value, trapped, fuelGlobal: exports[names.fuel].value };
  }
}`;

interface Runner {
  run(
    names: object,
    fuelGlobal: bigint,
    argument: number,
  ): Promise<{ readonly value?: number; readonly trapped: boolean; readonly fuelGlobal: bigint }>;
}

async function run({ bytes, argument }: Program, fuel: number): Promise<object> {
  const metered = meter(bytes);
  if (!metered.ok) throw new Error(metered.message);
  const worker = bindings.LOADER.load({
    compatibilityDate: "2026-10-01",
    mainModule: "runner.js",
    modules: { "runner.js": runner, "program.wasm": { wasm: metered.bytes.buffer } },
    globalOutbound: null,
  });
  const entry = worker.getEntrypoint() as unknown as Runner;
  const { value, trapped, fuelGlobal } = await entry.run(metered.report.exports, initialFuel(fuel), argument);
  const { fuel: left, state } = readFuel(fuelGlobal);
  return { value, trapped, left, state };
}

/** The same numbers as on every engine: see counts.shared.ts. */
describe.each(programs)("the fuel of $name in workerd", (program) => {
  const { value, fuel, leftOfHalf } = program;

  it("is exactly enough, and one less is not", async () => {
    expect(await run(program, fuel)).toEqual({ value, trapped: false, left: 0, state: "running" });
    expect(await run(program, fuel - 1)).toMatchObject({ state: "out-of-fuel" });
  });

  it("ends the run in the same place", async () => {
    expect(await run(program, Math.floor(fuel / 2))).toMatchObject({
      trapped: true,
      left: leftOfHalf,
      state: "out-of-fuel",
    });
  });
});

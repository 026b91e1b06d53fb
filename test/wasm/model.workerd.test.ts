import { meter } from "../../packages/worker-host/src/wasm/meter/meter.ts";
import { initialFuel, readFuel } from "../../packages/worker-host/src/wasm/meter/fuel-global.ts";
import { bindings } from "../edge/bindings.ts";
import { sized } from "../support/size.ts";
import type { Bytes } from "./bytes.ts";
import { limits, UNIT_BYTES } from "./model/observed.ts";
import { MODULES } from "./model/recorded.ts";
import { compareWithRules, type Runs } from "./model.shared.ts";

/* A Worker compiles no bytes: the modules are those of dynamic Workers, which run them and say what they saw. */

/** Runs in a dynamic Worker, as `MeteredProgram` does elsewhere. */
const runner = `
const fingerprint = (bytes) => {
  let hash = 0x811c9dc5 ^ bytes.length;
  for (const byte of bytes.subarray(0, 2048)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
};
const attempt = (call) => {
  try {
    return { kind: "returned", result: call() };
  } catch (error) {
    return { kind: error instanceof WebAssembly.Exception ? "uncaught" : "trapped" };
  }
};
export default {
  async fetch(request) {
    const { at, names, pages, calls } = await request.json();
    const { exports } = new WebAssembly.Instance(modules[at]);
    exports[names.pages].value = pages;
    return Response.json(calls.map(({ value, full }) => {
      exports[names.fuel].value = BigInt(full);
      const { kind, result } = attempt(() => exports.main(value));
      return { kind, result, left: String(exports[names.fuel].value), memory: fingerprint(new Uint8Array(exports.memory.buffer)) };
    }));
  },
};`;

interface Answer {
  readonly kind: "returned" | "uncaught" | "trapped";
  readonly result?: number;
  readonly left: string;
  readonly memory: number;
}

function compile(modules: readonly Bytes[]): readonly Runs[] {
  const metered = modules.map((bytes) => {
    const result = meter(bytes);
    if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
    return result;
  });
  const names = metered.map((_, at) => `m${at}`);
  const imports = names.map((name) => `import ${name} from "./${name}.wasm";`).join("\n");
  const files = metered.map(({ bytes }, at) => [`m${at}.wasm`, { wasm: bytes.slice().buffer }]);
  const worker = bindings.LOADER.load({
    compatibilityDate: "2026-10-01",
    mainModule: "main.js",
    modules: { "main.js": `${imports}\nconst modules = [${names.join()}];${runner}`, ...Object.fromEntries(files) },
    globalOutbound: null,
  });
  const entry = worker.getEntrypoint();
  return metered.map(({ report }, at) => ({
    async run(values, bounds = () => ({ ...limits, fuel: 10 ** 9 })) {
      const calls = values.map((value, index) => {
        const { fuel, units } = bounds(index);
        return { value, fuel, full: initialFuel(fuel, units * UNIT_BYTES) };
      });
      const body = JSON.stringify({
        at,
        names: report.exports,
        pages: limits.pages,
        calls: calls.map(({ value, full }) => ({ value, full: String(full) })),
      });
      const response = await entry.fetch("https://modules.test/", { method: "POST", body });
      const answers = await response.json<readonly Answer[]>();
      return answers.map(({ kind, result, left, memory }, index) => {
        const call = calls[index];
        if (!call) throw new Error("The Worker answered more calls than it was asked for.");
        const { fuel, full } = call;
        const { fuel: rest, state } = readFuel(BigInt(left));
        return {
          kind: state === "running" ? kind : state,
          value: state === "running" ? result : undefined,
          fuel: fuel - rest,
          units: undefined,
          openUnits: Number((BigInt(left) & 0x7fffn) - (full & 0x7fffn)),
          memory,
        };
      });
    },
  }));
}

compareWithRules(0, sized(10, MODULES), compile);

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { bytesOf } from "./bytes.ts";
import { instantiate } from "./metered.ts";

interface Counted {
  readonly name: string;
  /** Base64. */
  readonly wasm: string;
  /** An export, the types of its parameters, and the fuel of a call; null where it trapped. */
  readonly calls: readonly (readonly [string, readonly string[], number | null])[];
}

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** 300 modules of `wasm-opt -ttf`, with what wasmtime counted. */
const recorded = JSON.parse(gunzipSync(readFileSync(file("random-modules.json.gz"))).toString()) as {
  readonly wasmtime: string;
  readonly modules: readonly Counted[];
};

function argument(type: string): unknown {
  return { i32: 7, i64: 7n, f32: 1.5, f64: 1.5 }[type] ?? null;
}

/** Every call of a module, in order, in one instance. */
function count({ wasm, calls }: Counted): Counted["calls"] {
  const { exports, run } = instantiate(bytesOf(wasm));
  return calls.map(([name, types]) => {
    const { trapped, used } = run(() => exports[name]!(...types.map(argument)));
    return [name, types, trapped ? null : used];
  });
}

describe("300 random modules", () => {
  it("count as wasmtime counted them", () => {
    expect(recorded.modules).toHaveLength(300);
    expect(recorded.modules.flatMap(({ calls }) => calls).filter(([, , fuel]) => fuel !== null).length).toBeGreaterThan(
      1_500,
    );
    for (const module of recorded.modules) expect([module.name, count(module)]).toEqual([module.name, module.calls]);
  });

  // A wasmtime is where `KEYHOLE_WASMTIME` names a Python that has its package, or `python3` does.
  const python = process.env["KEYHOLE_WASMTIME"] ?? "python3";
  if (spawnSync(python, ["-c", "import wasmtime"]).status === 0) {
    it("count as the wasmtime that is installed counts them", () => {
      const modules = recorded.modules.map(({ name, wasm }) => ({ name, wasm }));
      const { stdout, stderr } = spawnSync(python, [file("count_fuel.py")], {
        input: JSON.stringify({ modules }),
        maxBuffer: 2 ** 26,
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      const live = JSON.parse(stdout) as { readonly modules: readonly Counted[] };
      expect(live.modules.map(({ calls }) => calls)).toEqual(recorded.modules.map(count));
    });
  } else {
    process.stderr.write(
      "random modules: no wasmtime here, so only its recorded counts are compared (KEYHOLE_WASMTIME)\n",
    );
  }
});

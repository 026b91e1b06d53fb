import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { sized, thorough } from "../support/size.ts";
import { encode } from "./model/encode.ts";
import { expected, fingerprint } from "./model/expected.ts";
import { MeteredProgram, unmetered } from "./model/observe.ts";
import { type Generator, generators, given, MODULES, type RecordedModule, toRecord } from "./model/recorded.ts";
import { compareWithRules } from "./model.shared.ts";

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const recorded = JSON.parse(gunzipSync(readFileSync(file("model/recorded.json.gz"))).toString()) as Readonly<
  Record<Generator, readonly RecordedModule[]>
>;
const names = Object.keys(generators) as Generator[];
const count = sized(60, MODULES);

describe.each(names)("random modules of the generator %s", (name) => {
  it("are those that were recorded, and end as recorded", () => {
    expect(recorded[name]).toHaveLength(MODULES);
    for (let seed = 0; seed < count; seed++) {
      const program = generators[name](seed);
      const now: RecordedModule = [fingerprint(encode(program)), ...expected(program, given).map(toRecord)];
      expect([seed, now]).toEqual([seed, recorded[name][seed]]);
    }
  });

  it("do the same as they were, unmetered", () => {
    for (let seed = 0; seed < count; seed++) {
      const program = generators[name](seed);
      const rules = expected(program, given);
      const stopped = rules.findIndex(({ kind }) => kind === "out-of-fuel" || kind === "too-deep");
      const ended = stopped < 0 ? rules : rules.slice(0, stopped);
      // The engine alone lets the memory grow to what the module declares.
      if (ended.some(({ refusedPages }) => refusedPages > 0)) continue;
      const seen = unmetered(encode(program), given.slice(0, ended.length));
      expect([seed, seen]).toEqual([seed, ended.map(({ kind, value, memory }) => ({ kind, value, memory }))]);
    }
  });
});

compareWithRules(0, count, MeteredProgram.all);

// A wasmtime is where `KEYHOLE_WASMTIME` names a Python that has its package, or `python3` does.
const python = process.env["KEYHOLE_WASMTIME"] ?? "python3";
if (thorough && spawnSync(python, ["-c", "import wasmtime"]).status === 0) {
  it("random modules do the same in the wasmtime that is installed", () => {
    // It has no exceptions of the first generation.
    const seeds = names.flatMap((name) => Array.from({ length: MODULES }, (_, seed) => ({ name, seed })));
    const lines = seeds
      .filter(({ name, seed }) => name !== "throwing" || seed % 4 !== 3)
      .map(({ name, seed }) => {
        const program = generators[name](seed);
        const wasm = Buffer.from(encode(program)).toString("base64");
        return JSON.stringify({ name: `${name} ${seed}`, wasm, calls: expected(program, given) });
      });
    const { stdout, stderr } = spawnSync(python, [file("model/compare_wasmtime.py")], {
      input: lines.join("\n"),
      maxBuffer: 2 ** 26,
      encoding: "utf8",
    });
    expect([stdout.split("\n")[0], stderr]).toEqual([expect.stringMatching(/^compared \d{4}$/), ""]);
  });
}

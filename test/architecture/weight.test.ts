import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { codeLines, type Weight, weights } from "../support/weight.ts";

/** A ceiling can only go down. What one change adds, another one has saved before. */
const ceilings: Readonly<Record<string, Weight>> = {
  agents: { lines: 1632, files: 22, names: 51 },
  bus: { lines: 2079, files: 36, names: 24 },
  edge: { lines: 4505, files: 75, names: 42 },
  kernel: { lines: 33_630, files: 509, names: 832 },
  keyhole: { lines: 7702, files: 149, names: 14 },
  mcp: { lines: 5060, files: 73, names: 74 },
  playground: { lines: 22_338, files: 329, names: 0 },
  "worker-host": { lines: 23_680, files: 351, names: 317 },
};

/** Below a ceiling by more than this share, and the ceiling follows. */
const slack = 0.01;

const kinds = ["lines", "files", "names"] as const;

function faultsOf(name: string, weight: Weight, ceiling: Weight): readonly string[] {
  return kinds.flatMap((kind) => {
    const got = `${name}: ${weight[kind]} ${kind}, ceiling ${ceiling[kind]}`;
    if (weight[kind] > ceiling[kind]) return [`${got}. Delete as much as the change adds.`];
    return weight[kind] < ceiling[kind] * (1 - slack) ? [`${got}. Lower the ceiling.`] : [];
  });
}

describe("the weight of a package", () => {
  const all = weights();

  it("stays below its ceiling, and the ceiling follows it", () => {
    expect([...all.keys()]).toEqual(Object.keys(ceilings));
    expect([...all].flatMap(([name, weight]) => faultsOf(name, weight, ceilings[name]!))).toEqual([]);
  });

  it("counts at the width of the formatter, 120 columns", () => {
    const { printWidth } = JSON.parse(readFileSync(`${root}.oxfmtrc.json`, "utf8")) as { printWidth: number };
    expect(printWidth).toBe(120);
  });

  it.each([
    ["a.ts", "const a = 1;\n\n// One.\nconst b = 2; // Two.\n/*\n * Three.\n */\n", 2],
    ["a.ts", "const a = `\n// text\n`;\n", 3],
    ["a.tsx", "const a = (\n  <b>\n    {/* Why. */}\n    <i />\n  </b>\n);\n", 5],
    ["a.css", "/* Why.\n * So. */\n.a {\n  color: red; /* Here. */\n}\n", 3],
  ])("counts the lines of %s that hold code: %j", (path, text, lines) => {
    expect(codeLines(path, text)).toBe(lines);
  });

  it("above or far below its ceiling is a fault", () => {
    const ceiling = { lines: 1000, files: 10, names: 5 };
    expect(faultsOf("a", { lines: 1000, files: 10, names: 5 }, ceiling)).toEqual([]);
    expect(faultsOf("a", { lines: 990, files: 10, names: 5 }, ceiling)).toEqual([]);
    expect(faultsOf("a", { lines: 1001, files: 11, names: 6 }, ceiling)).toHaveLength(3);
    expect(faultsOf("a", { lines: 989, files: 9, names: 4 }, ceiling)).toHaveLength(3);
  });
});

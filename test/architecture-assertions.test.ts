import { describe, expect, it } from "vitest";
import { assertionFaults, ceilings } from "./architecture/assertions.ts";
import { parseSource, readSources, type SourceFile } from "./support/sources.ts";

const kindsIn = (text: string): readonly string[] =>
  parseSource("packages/x/src/x.ts", text).assertions.map(({ kind }) => kind);

/** A thousand lines with so many of each. */
const thousand = (as: number, bang: number): SourceFile[] => [
  parseSource("packages/x/src/x.ts", `${"let a = b as C;".repeat(as)}${"d!;".repeat(bang)}${"\n".repeat(1000)}`),
];

describe("type assertions", () => {
  it("are counted by the syntax: not in comments, texts, names of imports or `as const`", () => {
    expect(
      kindsIn(`import { a as b } from "c"; export { d as e }; // f as G, h!\nconst i = ["as J", k !== l] as const;`),
    ).toEqual([]);
    expect(kindsIn(`const a = b as unknown as C;`)).toEqual(["as", "as"]);
    expect(kindsIn(`const a = <B>c;`)).toEqual(["as"]);
    expect(kindsIn(`a!.b![0]!;`)).toEqual(["!", "!", "!"]);
    expect(kindsIn(`let a!: B; class C { d!: E; #f!: G; }`)).toEqual(["!", "!", "!"]);
    expect(kindsIn(`const a = { b: 1 } satisfies C;`)).toEqual([]);
  });

  it("stay below the ceiling of their package, which follows them down", () => {
    const most = { x: { as: 5, "!": 3 } };
    expect(assertionFaults(thousand(5, 3), most)).toEqual([]);
    expect(assertionFaults(thousand(6, 4), most)).toHaveLength(2);
    expect(assertionFaults(thousand(3, 3), most)).toEqual([expect.stringContaining("lower its ceiling")]);
    expect(assertionFaults(thousand(1, 0), {})).toEqual([expect.stringContaining("ceiling 0")]);
  });

  it("in each package are no more than its ceiling", () => {
    const files = readSources(...new Set(Object.keys(ceilings).map((part) => `packages/${part.split("/")[0]}/src`)));
    expect(assertionFaults(files)).toEqual([]);
  });
});

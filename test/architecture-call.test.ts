import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readSources, resolveImport, root } from "./support/sources.ts";

const folder = "packages/kernel/src/call/steps/";
/** The files of the steps, in their order. What several steps share comes before the first of them. */
const order = [
  "resolve",
  "validate",
  "prove",
  "check-grants",
  "decide",
  "authorize",
  "reserve",
  "request-guard",
  "own-access",
  "start",
  "run",
  "run-faults",
  "validate-output",
  "normalize",
  "conclude",
  "answer",
];
const sources = readSources("packages/kernel/src");
const texts = new Map(sources.map(({ path }) => [path, readFileSync(root + path, "utf8")]));
const stepOf = (path: string): number =>
  path.startsWith(folder) ? order.indexOf(path.slice(folder.length, -".ts".length)) : -1;

describe("the steps of a call", () => {
  it("are the files of their folder", () => {
    const files = sources.filter(({ path }) => path.startsWith(folder)).map(({ path }) => path);
    expect(files.toSorted()).toEqual(order.map((name) => `${folder}${name}.ts`).toSorted());
  });

  it("import steps before them, and none after them", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .map(({ specifier }) => resolveImport(path, specifier))
        .filter((target) => stepOf(path) >= 0 && stepOf(target) >= stepOf(path))
        .map((target) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("a state", () => {
  /** By its name: the file that declares it. */
  const homes = new Map(
    [...texts].flatMap(([path, text]) =>
      [...text.matchAll(/export interface (\w+) extends (?:[\w, ]+, )?Made\b/g)].map(
        ([, state = ""]) => [state, path] as const,
      ),
    ),
  );

  it("is there for each of eleven steps, for bounds, and for what an isolate takes", () => {
    expect([...homes.values()].toSorted()).toHaveLength(13);
  });

  it("is made by its own step alone: no other file casts to it", () => {
    const casts = [...texts].flatMap(([path, text]) =>
      [...text.matchAll(/\bas (\w+)\b/g)].flatMap(([, state = ""]) =>
        homes.has(state) && homes.get(state) !== path ? [`${path} casts to ${state}`] : [],
      ),
    );
    expect(casts).toEqual([]);
    for (const [state, path] of homes) expect(texts.get(path), path).toMatch(new RegExp(`\\bas ${state}\\b`));
  });

  it("and an ending: only the step that concludes makes one", () => {
    const makers = [...texts].flatMap(([path, text]) => (/\bendingOf\b/.test(text) ? [path] : []));
    expect(makers.toSorted()).toEqual(["packages/kernel/src/call/ending/ending.ts", `${folder}conclude.ts`]);
  });
});

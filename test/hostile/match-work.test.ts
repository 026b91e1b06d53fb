import { checkCommand, matchCommand } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { matchCommands } from "../../packages/kernel/src/capability/matching/commands.ts";
import { PathWork } from "../../packages/kernel/src/capability/matching/path-work.ts";
import { isUnder, pathMatcher } from "../../packages/kernel/src/capability/matching/paths.ts";
import * as limits from "../../packages/kernel/src/limits.ts";
import { compileArgument } from "../../packages/kernel/src/policy/decision/arguments.ts";

// What a stranger makes large is counted before it is worked on: these tests count steps, and no time.

/** Each glob goes back to its last wildcard at every character of the path. */
const slow = (count: number): string[] => Array.from({ length: count }, (_, at) => `*${"a".repeat(100)}b${at}`);
const path = Array.from({ length: 4 }, () => "a".repeat(200)).join("/");
const long = "a".repeat(250);

/** Counts by hand: a spy keeps each of the millions of calls. */
function stepsOf(check: () => unknown): number {
  const { take } = PathWork.prototype;
  let steps = 0;
  PathWork.prototype.take = function (amount) {
    steps += amount;
    return take.call(this, amount);
  };
  try {
    check();
  } finally {
    PathWork.prototype.take = take;
  }
  return steps;
}

describe("a path and many globs", () => {
  it("take a counted number of steps, and past it a deny matches and a grant does not", () => {
    const [deny, grant] = (["deny", "grant"] as const).map((face) => pathMatcher([...slow(2_000), long], face));
    expect(stepsOf(() => deny!(long))).toBeLessThan(4_100_000);
    expect(deny!(long)).toBe(true);
    expect(deny!("b".repeat(250))).toBe(false);
    expect(grant!(long)).toBe(false);
  });

  it("take as many steps as are left, and one fewer is too few", () => {
    const needed = stepsOf(() => isUnder([`*${long}`], path, "grant"));
    for (const [most, isDenied] of [
      [needed, false],
      [needed - 1, true],
    ] as const)
      expect(isUnder([`*${long}`], path, "deny", new PathWork(most))).toBe(isDenied);
  });
});

describe("a command with arguments", () => {
  const rest = { command: "ls", args: [{ rest: { path: [`*${"a".repeat(100)}b`, "**"] } }] };

  it("that take more steps than it may is granted by nothing", () => {
    expect(checkCommand("ls")).toBeUndefined();
    expect(
      matchCommand(
        rest,
        "ls",
        Array.from({ length: 100 }, () => long),
      ),
    ).toBe(true);
    const many = Array.from({ length: 1_000 }, () => long);
    expect(stepsOf(() => matchCommands([rest, rest, rest], "ls", many))).toBeLessThan(4_100_000);
    expect(matchCommand(rest, "ls", many)).toBe(false);
  });
});

describe("rules that look for a text", () => {
  const rules = (count: number) =>
    Array.from({ length: count }, (_, at) => compileArgument({ at: "/text", contains: `needle ${at}` }, "grant"));

  it("look through as much as they may, and cannot say past it", () => {
    const text = "x".repeat(1 << 20);
    const most = limits.searchedUnits / text.length;
    const decision = { input: { text } };
    const truths = rules(most + 10).map((holds) => holds(decision));
    expect(truths.slice(0, most)).toEqual(Array(most).fill(false));
    expect(truths.slice(most)).toEqual(Array(10).fill("TOO_MUCH_TEXT"));
  });

  it("count up to what they find, and nothing where nothing can be", () => {
    const text = `needle 0${"x".repeat(8 << 20)}`;
    const decision = { input: { text } };
    const [holds] = rules(1);
    for (let at = 0; at < 100; at++) expect(holds!(decision)).toBe(true);
    const short = { input: { text: "x" } };
    expect(new Set(rules(1_000).map((each) => each(short)))).toEqual(new Set([false]));
  });
});

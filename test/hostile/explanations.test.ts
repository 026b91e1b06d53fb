import { patternFault } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { calling, leaf, openCalling } from "../support/nested.ts";

/** Characters of everything that a failed call says. */
const sizeOf = (result: unknown): number => JSON.stringify((result as { readonly error: unknown }).error).length;

describe("what is said about a broken contract has a bound", () => {
  const name = "n".repeat(400_000);

  it("where a tool returns members with names without end", async () => {
    const { kernel } = await openKernel();
    const strict = {
      kind: "json",
      schema: { type: "object", additionalProperties: { type: "object", additionalProperties: { type: "integer" } } },
    };
    const members = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}`, { [name]: "x" }]));
    kernel.register(toolOf(() => members, { output: strict, bounds: { outputBytes: 25_000_000 } }));
    const result = await kernel.call("subject", {});
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_OUTPUT" } });
    expect(sizeOf(result)).toBeLessThan(100_000);
  });

  it("where a caller sends such", async () => {
    const { kernel } = await openKernel();
    const input = { type: "object", additionalProperties: { type: "integer" } };
    kernel.register(toolOf(() => 1, { input }));
    const result = await kernel.call("subject", { [name]: "x", [`${name}\ud800`.toWellFormed()]: {} });
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(sizeOf(result)).toBeLessThan(10_000);
    const deep = await kernel.call("subject", { [name]: Number.NaN });
    expect(deep).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(sizeOf(deep)).toBeLessThan(2_000);
  });
});

describe("a hint of a missing grant", () => {
  const hintFor = async (capability: object): Promise<string> => {
    const { kernel } = await openKernel();
    const effects = ["net.read"];
    kernel.register(toolOf(() => 1, { effects, determinism: "external", capabilities: [capability] }));
    const result = await kernel.call("subject", {});
    return result.ok ? "" : result.error.hint;
  };

  it("is what the tool wishes for, where it says so", async () => {
    const wish = { kind: "net.read", hosts: ["search.example.org"], paths: ["/search"] };
    const hint = await hintFor(wish);
    expect(hint).toContain(JSON.stringify({ tool: "subject", capability: wish }));
  });

  it("is an example, where it wishes for everything", async () => {
    expect(await hintFor({ kind: "net.read", hosts: ["*"] })).toContain('"hosts":["example.com"]');
  });
});

it("a malformed pattern is told in the words of the pattern, not of a rule that its author never wrote", () => {
  const asked = { approvalId: "a", tool: "t@1.0.0", sessionId: "s", caller: "c", input: {} };
  const fault = patternFault(asked, [{ at: "/a", matches: ".*" }]);
  expect(fault).toMatch(/^The pattern is malformed: /);
  expect(fault).not.toMatch(/rules|when/);
});

describe("what a tool says that another tool calls", () => {
  it("is heard by whoever listens to the outer call, up to what one call may say", async () => {
    const inner = leaf(
      "inner",
      (_, { log, progress }: { log: (line: string) => void; progress: (p: object) => void }) => {
        for (let i = 0; i < 600; i++) log(`line ${i}`);
        progress({ done: 1 });
        return null;
      },
    );
    const outer = calling("outer", async (_, { tools }) => {
      for (let i = 0; i < 3; i++) await tools.call("inner");
      return null;
    });
    const { kernel } = await openCalling([inner, outer]);
    const lines: string[] = [];
    const progress: unknown[] = [];
    const listeners = {
      onLog: ({ message }: { readonly message: string }) => void lines.push(message),
      onProgress: (each: unknown) => void progress.push(each),
    };
    expect(await kernel.call("outer", {}, listeners)).toMatchObject({ ok: true });
    expect(lines.slice(0, 2)).toEqual(["line 0", "line 1"]);
    expect(progress).toEqual([{ done: 1 }]);
    expect(lines.length + progress.length).toBe(1_000);
  });
});

import type { IsolateHost, ToolCallAnswer } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { moduleHost, packed } from "../support/module-host.ts";
import { calling, type Context, leaf, openCalling } from "../support/nested.ts";
import { settled } from "../support/turns.ts";

/** How an answer ended. */
const codeOf = (answer: ToolCallAnswer): string => (answer.ok ? "ok" : answer.error.code);

/** Calls the tool of the next number, and says how far that went. */
const links = Array.from({ length: 8 }, (_, i) =>
  calling(`link${i}`, async (_input, { tools }: Context) => {
    const answer = await tools.call(`link${i + 1}`);
    return answer.ok ? answer.data : `${i + 1}: ${answer.error.code}`;
  }),
);
const last = leaf("link8", () => "the end");

async function kernelWith(tools: readonly unknown[], capacity: number) {
  const host = { ...moduleHost(...tools), capacity };
  const { kernel, clock } = await openCalling(
    tools.map((tool) => packed(tool)),
    { host, cache: false },
  );
  return { kernel, clock };
}

describe("calls from within, in a host with few places", () => {
  it.each([
    [1, "1: BOUNDS_EXCEEDED"],
    [3, "2: BOUNDS_EXCEEDED"],
    [16, "8: BOUNDS_EXCEEDED"],
    [17, "the end"],
  ])(
    "of a chain of nine in %s, of which one caller has half: the one that no place will ever come back for is refused at once",
    async (capacity, data) => {
      const { kernel } = await kernelWith([...links, last], capacity);
      // The clock stands still: nothing here ends by a deadline.
      expect(await kernel.call("link0", {})).toMatchObject({ ok: true, data });
    },
  );

  it("says why, and what to do", async () => {
    const { kernel } = await kernelWith([...links, last], 1);
    const events: unknown[] = [];
    await kernel.call("link0", {}, { onEvent: ({ type, payload }) => events.push([type, payload]) });
    expect(events).toContainEqual(["tool.failed", expect.objectContaining({ code: "BOUNDS_EXCEEDED" })]);
  });

  it("from many calls at the same time: one is refused, and the others go on in its place", async () => {
    const outer = calling("outer", async (_input, { tools }: Context) => codeOf(await tools.call("inner")), {
      bounds: { concurrency: 64 },
    });
    const inner = leaf("inner", () => settled().then(() => null), { bounds: { concurrency: 64 } });
    const { kernel } = await kernelWith([outer, inner], 20);
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, i) => kernel.call("outer", {}, { sessionId: `${i}` })),
    );
    const codes = all.map((result) => (result.ok ? String(result.data) : result.error.code));
    expect(codes.toSorted()).toEqual(["BOUNDS_EXCEEDED", ...Array.from({ length: 9 }, () => "ok")]);
  });

  it("wait their turn while somebody else can still give a place back", async () => {
    let letGo = (): void => {};
    const slow = leaf("slow", () => new Promise<null>((resolve) => (letGo = () => resolve(null))));
    const outer = calling("outer", async (_input, { tools }: Context) => codeOf(await tools.call("inner")));
    const inner = leaf("inner", () => null);
    const { kernel } = await kernelWith([slow, outer, inner], 4);
    const held = kernel.call("slow", {});
    await settled();
    const waits = kernel.call("outer", {});
    await settled();
    letGo();
    expect(await held).toMatchObject({ ok: true });
    expect(await waits).toMatchObject({ ok: true, data: "ok" });
  });

  it("are not blocked by a call that shares the isolate with another one that runs", async () => {
    let letGo = (): void => {};
    const outer = calling("outer", async ({ waits }: { waits?: boolean }, { tools }: Context) =>
      waits ? new Promise((resolve) => (letGo = () => resolve("let go"))) : codeOf(await tools.call("inner")),
    );
    const inner = leaf("inner", () => null);
    const { kernel } = await kernelWith([outer, inner], 1);
    const runs = kernel.call("outer", { waits: true }, { sessionId: "s" });
    const blocked = kernel.call("outer", {}, { sessionId: "s" });
    let answered = false;
    void blocked.then(() => (answered = true));
    await settled();
    await settled();
    expect(answered).toBe(false);
    letGo();
    expect(await runs).toMatchObject({ ok: true, data: "let go" });
    expect(await blocked).toMatchObject({ ok: true, data: "BOUNDS_EXCEEDED" });
  });

  it("are found out also where one waits for its second isolate, because the first one died", async () => {
    const outer = calling("outer", async (_input, { tools }: Context) => codeOf(await tools.call("inner")));
    const inner = leaf("inner", () => null);
    const modules = moduleHost(outer, inner);
    const first = Promise.withResolvers<void>();
    let isFirst = true;
    const open: IsolateHost["open"] = async (tool) => {
      const isolate = await modules.open(tool);
      if (tool.manifest.name === "inner" && isFirst) {
        isFirst = false;
        await first.promise;
        isolate.terminate("It crashed.");
      }
      return isolate;
    };
    const host = { ...modules, capacity: 4, open };
    const { kernel } = await openCalling(
      [outer, inner].map((tool) => packed(tool)),
      { host, cache: false },
    );
    const one = kernel.call("outer", {}, { sessionId: "one" });
    await settled();
    const other = kernel.call("outer", {}, { sessionId: "other" });
    await settled();
    first.resolve(); // The other one gets the place.
    const data = [await one, await other].map((result) => result.ok && result.data);
    expect(data).toEqual(["ok", "BOUNDS_EXCEEDED"]);
  });

  it("all end, whatever they call, and every place is there again", async () => {
    // A tree of calls: each node calls its children, all at once or one after the other.
    interface Tree {
      readonly name: string;
      readonly atOnce: boolean;
      readonly children: readonly Tree[];
    }
    const treeOf = (depth: number): fc.Arbitrary<Tree> =>
      fc.record({
        name: fc.constantFrom("a", "b", "c"),
        atOnce: fc.boolean(),
        children: depth === 0 ? fc.constant([]) : fc.array(treeOf(depth - 1), { maxLength: 3 }),
      });
    const nodes = ["a", "b", "c"].map((name) =>
      calling(
        name,
        async ({ children, atOnce }: Tree, { tools }: Context) => {
          const call = async (child: Tree): Promise<string> => codeOf(await tools.call(child.name, child));
          if (atOnce) return Promise.all(children.map(call));
          const answers: string[] = [];
          for (const child of children) answers.push(await call(child));
          return answers;
        },
        { bounds: { concurrency: 64 } },
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(treeOf(3), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        async (trees, capacity) => {
          const { kernel } = await kernelWith(nodes, capacity);
          const all = await Promise.all(
            trees.map((each, i) => kernel.call(each.name, each, { sessionId: `${i}`, waitMs: 1_000 })),
          );
          for (const result of all) expect(result).toMatchObject({ ok: true });
          const after = await Promise.all(
            Array.from({ length: capacity }, (_, i) => kernel.call("a", { children: [] }, { sessionId: `after${i}` })),
          );
          for (const result of after) expect(result).toMatchObject({ ok: true });
          await kernel.close();
        },
      ),
      { numRuns: 60 },
    );
  });
});

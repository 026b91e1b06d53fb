import { readPages } from "@keyhole/kernel/audit";
import { connectEdge } from "@keyhole/worker-host/edge";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readerOf } from "../../packages/kernel/src/audit/reader.ts";
import * as limits from "../../packages/kernel/src/limits.ts";
import { echo, openKernel } from "../support/kernel.ts";
import { registerAny } from "../support/registered.ts";

const logOf = (count: number) => {
  const events = Array.from({ length: count }, (_, seq) => ({ seq }));
  return (from: number, limit: number) => Promise.resolve(events.slice(from, from + limit));
};

describe("reading a log", () => {
  it("gives what is there, in pages of any length", () =>
    fc.assert(
      fc.asyncProperty(
        fc.nat(30),
        fc.nat(40),
        fc.option(fc.nat(40)),
        fc.integer({ min: 1, max: 8 }),
        async (...given) => {
          const [count, from, limit, page] = given;
          const read = await readPages(logOf(count), from, limit ?? Infinity, page);
          const all = Array.from({ length: count }, (_, seq) => seq);
          expect(read.map(({ seq }) => seq)).toEqual(all.slice(from, from + (limit ?? Infinity)));
        },
      ),
    ));

  it("of a kernel gives all events, beyond the number that a sink in memory has", async () => {
    const count = limits.memoryEvents + 3;
    const reader = readerOf({ read: logOf(count) } as never);
    expect(await reader.read()).toHaveLength(count);
    expect(await reader.read(1, 2)).toEqual([{ seq: 1 }, { seq: 2 }]);
  });

  it("of an edge gives all events, beyond those of one answer", async () => {
    const { kernel } = await openKernel();
    await registerAny(kernel, echo);
    for (let calls = 0; calls < 300; calls++) await kernel.call("echo", { message: "a" });
    const events = await kernel.audit.read();
    expect(events.length).toBeGreaterThan(1_000);
    const edge = connectEdge("https://edge.example", "t", {
      fetch: async (url) => {
        const { searchParams } = new URL(url);
        const [from, limit] = ["from", "limit"].map((name) => Number(searchParams.get(name)));
        const page = events.slice(from, from! + limit!);
        return Response.json({ events: page, next: (page.at(-1)?.seq ?? from! - 1) + 1 });
      },
    });
    expect(await edge.audit.read()).toEqual(events);
    expect(await edge.audit.read(2, 1_001)).toEqual(events.slice(2, 1_003));
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Obligations, type Release } from "../../packages/kernel/src/call/record/obligations.ts";
import { sized } from "../support/size.ts";

const noFault = (error: unknown): never => {
  throw error;
};

describe("obligations", () => {
  it("are released newest first, in one turn, each with the end", () => {
    const held = new Obligations<string>();
    const released: string[] = [];
    for (const name of ["first", "second", "third"]) held.defer((end) => void released.push(`${name} ${end}`));
    expect(held.settle("over", noFault)).toBeUndefined();
    expect(released).toEqual(["third over", "second over", "first over"]);
  });

  it("are released once: early, or with the others", () => {
    const held = new Obligations<string>();
    const released: string[] = [];
    const early = held.defer((end) => void released.push(`early ${end}`));
    held.defer((end) => void released.push(`late ${end}`));
    held.release(early, "now", noFault);
    held.release(early, "again", noFault);
    void held.settle("over", noFault);
    void held.settle("twice", noFault);
    expect(released).toEqual(["early now", "late over"]);
  });

  it("that come after the end are released at once, with the same end", () => {
    const held = new Obligations<string>();
    const released: string[] = [];
    void held.settle("over", noFault);
    held.defer((end) => void released.push(end));
    expect(released).toEqual(["over"]);
  });

  it("that are added while the others are released are released too", () => {
    const held = new Obligations<string>();
    const released: string[] = [];
    held.defer(() => void held.defer((end) => void released.push(end)));
    void held.settle("over", noFault);
    expect(released).toEqual(["over"]);
  });

  it("that throw or reject are reported, and do not stop the others", async () => {
    const held = new Obligations<null>();
    const released: string[] = [];
    const faults: unknown[] = [];
    held.defer(() => void released.push("first"));
    held.defer(() => {
      throw new Error("thrown");
    });
    held.defer(() => Promise.reject(new Error("rejected")));
    held.defer(() => void released.push("last"));
    const tails = held.settle(null, (error) => faults.push(error));
    expect(released).toEqual(["last", "first"]);
    await tails;
    expect(faults.map(String)).toEqual(["Error: thrown", "Error: rejected"]);
  });

  it("that take their time are tails: nothing waits for them but the returned promise", async () => {
    const held = new Obligations<null>();
    const { promise, resolve } = Promise.withResolvers<void>();
    let isOver = false;
    held.defer(() => promise);
    const tails = held.settle(null, noFault)?.then(() => (isOver = true));
    await Promise.resolve();
    expect(isOver).toBe(false);
    resolve();
    await tails;
    expect(isOver).toBe(true);
  });

  it("of any order of deferring, releasing and settling are released exactly once", () => {
    const step = fc.oneof(
      fc.constant({ act: "defer" as const }),
      fc.record({ act: fc.constant("release" as const), at: fc.nat(20) }),
      fc.constant({ act: "settle" as const }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const held = new Obligations<string>();
        const handles: Release<string>[] = [];
        const counts: number[] = [];
        for (const each of steps) {
          if (each.act === "settle") void held.settle("over", noFault);
          else if (each.act === "release" && handles[each.at]) held.release(handles[each.at]!, "early", noFault);
          else if (each.act === "defer") {
            const at = counts.push(0) - 1;
            handles.push(held.defer(() => void counts[at]!++));
          }
        }
        void held.settle("over", noFault);
        expect(counts.every((count) => count === 1)).toBe(true);
      }),
      { numRuns: sized(300, 10_000) },
    );
  });
});

import { describe, expect, it } from "vitest";
import { outputOf } from "../../packages/kernel/src/guest/output.ts";
import * as limits from "../../packages/kernel/src/limits.ts";

const json = (value: unknown) => outputOf(value, { outputKind: "json", outputBytes: 100_000_000 });

describe("a JSON output", () => {
  it("may unfold to as many values as the kernel takes, and to no more", () => {
    // The array, its items, and in each of them one value.
    const shared = [1];
    const unfolding = (items: number): unknown => Array.from({ length: items }, () => shared);
    const most = (limits.nodes - 2) / 2;
    expect(json(unfolding(most))).toMatchObject({ kind: "returned" });
    const path = `/${most}/0`;
    expect(json(unfolding(most + 1))).toMatchObject({ kind: "unnormalizable", reason: "too-large", path });
  });

  it("is refused before it is written where it unfolds without end", () => {
    let bomb: unknown = "x";
    for (let i = 0; i < 60; i++) bomb = [bomb, bomb];
    expect(json(bomb)).toMatchObject({ kind: "unnormalizable", reason: "too-large" });
    const loop: unknown[] = [];
    loop.push(loop, loop);
    expect(json(loop)).toMatchObject({ kind: "unnormalizable" });
  });

  it("that throws when it is read is refused with the path", () => {
    const trap = {
      inner: {
        get field(): never {
          throw new Error("no");
        },
      },
    };
    expect(json(trap)).toMatchObject({ kind: "unnormalizable", reason: "unreadable", path: "/inner/field" });
  });
});

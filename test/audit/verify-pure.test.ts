import { systemClock, type Tool } from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { verifyPure } from "@keyhole/kernel/replay";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { toolOf } from "../support/kernel.ts";
import { registered } from "../support/registered.ts";

describe("a tool that says it is pure", () => {
  const check = (tool: Tool<never, unknown>) =>
    verifyPure({ host: inlineHost(), tool: registered(tool), inputs: [{ n: 1 }, { n: 2 }], clock: systemClock });

  it("is believed when its outcome depends on its input alone", async () => {
    expect(await check(toolOf(({ n }: { n: number }) => n * 2))).toEqual({ ok: true, runs: 6 });
    expect(
      await check(
        toolOf(() => {
          throw new Error("always the same");
        }),
      ),
    ).toMatchObject({ ok: true });
  });

  let count = 0;
  it.each<[string, Tool<never, unknown>]>([
    ["shows the time", toolOf((_, { now }: { now: () => number }) => now())],
    ["shows chance", toolOf((_, { random }: { random: () => number }) => random())],
    ["remembers", toolOf(() => count++)],
    [
      "asks for files",
      toolOf((_, { files }: { files: { read(path: string): Promise<unknown> } }) => files.read("x").catch(() => 1)),
    ],
    ["lies about one input", toolOf(({ n }: { n: number }) => (n === 2 ? count++ : n))],
  ])("and %s is found", async (_, tool) => {
    expect(await check(tool)).toMatchObject({ ok: false });
  });

  it("and never ends is stopped and not believed", async () => {
    const clock = new FakeClock();
    const pending = verifyPure({
      host: inlineHost(),
      tool: registered(toolOf(() => new Promise(() => {}))),
      inputs: [1],
      runs: 1,
      clock,
    });
    await clock.advance(10_000);
    expect(await pending).toMatchObject({
      ok: false,
      kind: "unfinished",
      reason: "A run did not end: it did not end.",
    });
  });
});

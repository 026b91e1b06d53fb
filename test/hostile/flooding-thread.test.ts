import { nodeHost } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";
import subject from "../contract/tools/subject.ts?tool";
import { openKernel } from "../support/kernel.ts";

it.each([
  ["as it is", [subject.hash]],
  ["in the interpreter", []],
] as const)(
  "a thread that sends without end leaves each turn to others after a few messages: %s",
  async (_, trusted) => {
    const host = nodeHost({ trusted });
    const { kernel } = await openKernel({ host });
    kernel.register(subject);
    let count = 0;
    let inTurn = 0;
    let most = 0;
    let isOver = false;
    const turn = (): void => {
      inTurn = 0;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const onLog = (): void => {
      count += 1;
      inTurn += 1;
      most = Math.max(most, inTurn);
    };
    const result = await kernel.call("subject", { deed: "flood the log" }, { onLog, bounds: { timeoutMs: 5_000 } });
    isOver = true;
    expect(result).toMatchObject({ ok: true, data: "flooded" });
    expect(count).toBeGreaterThan(900);
    // Those that came in the turn, and as many that had waited for it.
    expect(most).toBeLessThanOrEqual(32);
    await kernel.close();
    await host.close();
  },
);

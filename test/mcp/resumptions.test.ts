import { describe, expect, it } from "vitest";
import { resumptions } from "../../packages/mcp/src/source/resumptions.ts";
import { FakeClock } from "../support/fake-clock.ts";

describe("the streams of a server that wants them resumed at once", () => {
  it("are resumed at a rate, however many they are", async () => {
    const clock = new FakeClock();
    const resume = resumptions(clock, () => expect.unreachable());
    let resumed = 0;
    const again = (): void => {
      resumed++;
      resume(again, 0);
    };
    for (let stream = 0; stream < 50; stream++) resume(again, 0);
    for (let ms = 0; ms < 60_000; ms += 100) await clock.advance(100);
    // 20 at first, then one each 500 ms.
    expect(resumed).toBeGreaterThan(100);
    expect(resumed).toBeLessThanOrEqual(140);
  });

  it.each([
    [0, 1_000],
    [2_500, 2_500],
    [86_400_000, 30_000],
    [Infinity, 30_000],
  ])("wait %i ms as %i ms", async (delayMs, waitMs) => {
    const clock = new FakeClock();
    let resumed = 0;
    resumptions(clock, () => expect.unreachable())(() => void resumed++, delayMs);
    await clock.advance(waitMs - 1);
    expect(resumed).toBe(0);
    await clock.advance(1);
    expect(resumed).toBe(1);
  });

  it("end the connection when more than 100 wait, without those that were given up", () => {
    const faults: string[] = [];
    const resume = resumptions(new FakeClock(), ({ message }) => void faults.push(message));
    for (let stream = 0; stream < 200; stream++) resume(() => {}, 0)();
    for (let stream = 0; stream < 100; stream++) resume(() => {}, 0);
    expect(faults).toEqual([]);
    resume(() => {}, 0);
    expect(faults).toEqual(["The server left more than 100 streams to resume."]);
  });
});

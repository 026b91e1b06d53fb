import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { opened } from "./fake-sandboxes.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("several sandboxes", () => {
  it("where one stands still, others go on in another one within 600 ms, and what stands there waits", async () => {
    const { sandboxes, ends, moving } = opened(2);
    const spinning = ends(moving("spin"));
    await vi.advanceTimersByTimeAsync(0);
    const other = ends(moving("other"));
    await vi.advanceTimersByTimeAsync(600);
    expect([spinning.end(), other.end()]).toEqual(["open", "answered"]);
    expect(sandboxes[1]!.seen).toEqual(["load other", "call other"]);
    // Later ones do not even try.
    const later = ends(moving("later"));
    await vi.advanceTimersByTimeAsync(0);
    expect(later.end()).toBe("answered");
    sandboxes[0]!.go();
    await vi.advanceTimersByTimeAsync(0);
    expect(spinning.end()).toBe("answered");
  });

  it("an isolate that is there already moves too, and its old one is closed", async () => {
    const { sandboxes, load, ends, moving } = opened(2);
    await load("warm");
    const spinning = ends(moving("spin"));
    await vi.advanceTimersByTimeAsync(600);
    const warm = ends(moving("warm"));
    await vi.advanceTimersByTimeAsync(0);
    expect([spinning.end(), warm.end()]).toEqual(["open", "answered"]);
    expect(sandboxes[0]!.seen).toContain("close warm");
  });

  it("a kind of tool holds up one sandbox, however often it is called", async () => {
    const { sandboxes, ends, moving } = opened(3);
    const spinning = [1, 2, 3, 4].map((i) => ends(moving(`spins ${i}`, "spin")));
    await vi.advanceTimersByTimeAsync(5_000);
    spinning.push(ends(moving("spin 5", "spin")));
    const other = ends(moving("other"));
    await vi.advanceTimersByTimeAsync(600);
    expect([...spinning.map(({ end }) => end()), other.end()]).toEqual([...Array<string>(5).fill("open"), "answered"]);
    expect(sandboxes.slice(1).flatMap(({ seen }) => seen)).toEqual(["load other", "call other"]);
  });

  it("the tools of one kernel leave the last sandbox to others, however many of them spin", async () => {
    const { sandboxes, rack, ends, moving } = opened(3);
    const spinning = [];
    for (let i = 1; i <= 3; i++) {
      spinning.push(ends(moving(`spin ${i}`)));
      await vi.advanceTimersByTimeAsync(10_000);
    }
    const own = ends(moving("own"));
    await vi.advanceTimersByTimeAsync(10_000);
    expect([...spinning, own].map(({ end }) => end())).toEqual(Array<string>(4).fill("open"));
    expect(sandboxes[2]!.seen).toEqual([]);
    const neighbour = opened(3, sandboxes, rack);
    const other = ends(neighbour.moving("other"));
    await vi.advanceTimersByTimeAsync(1_200);
    expect(other.end()).toBe("answered");
    expect(own.end()).toBe("open");
  });

  it("one that spins while its module is loaded holds up two at most", async () => {
    const { sandboxes, ends, moving } = opened(3);
    const spinning = [1, 2].map((i) => ends(moving(`spin ${i}`, "spin at load")));
    await vi.advanceTimersByTimeAsync(0);
    const other = ends(moving("other"));
    await vi.advanceTimersByTimeAsync(2_000);
    expect([...spinning.map(({ end }) => end()), other.end()]).toEqual(["open", "open", "answered"]);
    expect(sandboxes[1]!.seen).toEqual(["load other", "call other"]);
  });

  it("where a neighbour's tool holds one up, of which this kernel knows nothing, its own go on in another one", async () => {
    const { sandboxes, ends, moving, load } = opened(2);
    await load("warm");
    void sandboxes[0]!.spin();
    const [fresh, warm] = [ends(moving("fresh")), ends(moving("warm"))];
    await vi.advanceTimersByTimeAsync(600);
    expect([fresh.end(), warm.end()]).toEqual(["answered", "answered"]);
  });

  it("a call that takes long in a sandbox that answers stays", async () => {
    const { sandboxes, ends, moving } = opened(2);
    const hanging = ends(moving("hang"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hanging.end()).toBe("open");
    expect(sandboxes[1]!.seen).toEqual([]);
  });

  it("one that answers late, and answers others, keeps what runs there", async () => {
    const { sandboxes, rack, ends, moving } = opened(2);
    const neighbour = opened(2, sandboxes, rack);
    const long = ends(moving("hang"));
    await vi.advanceTimersByTimeAsync(0);
    sandboxes[0]!.ping = () => new Promise((resolve) => setTimeout(resolve, 400));
    for (let i = 0; i < 20; i++) {
      const short = ends(neighbour.moving(`short ${i}`));
      await vi.advanceTimersByTimeAsync(100);
      expect(short.end()).toBe("answered");
    }
    expect([long.end(), sandboxes[1]!.seen]).toEqual(["open", []]);
  });

  it("where all stand still, all wait, and go on with the first that answers", async () => {
    const { sandboxes, ends, moving } = opened(2);
    for (const sandbox of sandboxes) void sandbox.spin();
    const other = ends(moving("other"));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(other.end()).toBe("open");
    sandboxes[1]!.go();
    await vi.advanceTimersByTimeAsync(600);
    expect(other.end()).toBe("answered");
  });

  it("one that answers again is used again", async () => {
    const { sandboxes, ends, moving } = opened(2);
    void sandboxes[0]!.spin();
    const first = ends(moving("first"));
    await vi.advanceTimersByTimeAsync(600);
    sandboxes[0]!.go();
    void sandboxes[1]!.spin();
    const second = ends(moving("second"));
    await vi.advanceTimersByTimeAsync(600);
    expect([first.end(), second.end()]).toEqual(["answered", "answered"]);
    expect(sandboxes[0]!.seen).toContain("call second");
  });

  it("what waits in one that dies hears of it", async () => {
    const { sandboxes, ends, moving } = opened(2);
    const spinning = ends(moving("spin"));
    await vi.advanceTimersByTimeAsync(600);
    sandboxes[0]!.die();
    await vi.advanceTimersByTimeAsync(0);
    expect(spinning.end()).toBe("Error: Network connection lost.");
  });

  it("what was in one that is gone goes on in another one at once, and in the first again when it is back", async () => {
    const { sandboxes, load, ends } = opened(2);
    await load("warm");
    sandboxes[0]!.isGone = true;
    // As an isolate does, which tries three times.
    await expect(load("first")).rejects.toThrow("lost");
    const first = ends(load("first"));
    await vi.advanceTimersByTimeAsync(0);
    expect([first.end(), ...sandboxes[1]!.seen]).toEqual(["answered", "load first"]);
    sandboxes[0]!.isGone = false;
    sandboxes[1]!.isGone = true;
    const second = ends(load("second"));
    await vi.advanceTimersByTimeAsync(0);
    expect([second.end(), sandboxes[0]!.seen.at(-1)]).toEqual(["answered", "load second"]);
  });

  it("a kind that held one up is loaded into the last from then on, and into the first again once it has answered", async () => {
    const { sandboxes, ends, moving } = opened(3);
    const loadsOf = (kind: string): number[] =>
      sandboxes.map(({ seen }) => seen.filter((each) => each.startsWith(`load ${kind}`)).length);
    void moving("spin 1", "spin").catch(() => {});
    await vi.advanceTimersByTimeAsync(600);
    sandboxes[0]!.die();
    await vi.advanceTimersByTimeAsync(600);
    const again = ends(moving("spin 2", "spin"));
    await vi.advanceTimersByTimeAsync(600);
    for (let i = 0; i < 3; i++) await moving(`other ${i}`);
    expect([loadsOf("spin"), loadsOf("other")]).toEqual([
      [1, 0, 1],
      [3, 0, 0],
    ]);
    sandboxes[2]!.go();
    await vi.advanceTimersByTimeAsync(0);
    expect(again.end()).toBe("answered");
    void moving("spin 3", "spin");
    await vi.advanceTimersByTimeAsync(0);
    expect(loadsOf("spin")).toEqual([2, 0, 1]);
  });

  it("leaves no timer behind", async () => {
    const { ends, moving } = opened(2);
    const one = ends(moving("one"));
    await vi.advanceTimersByTimeAsync(0);
    expect(one.end()).toBe("answered");
    expect(vi.getTimerCount()).toBe(0);
  });
});

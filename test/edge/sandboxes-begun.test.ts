import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { opened } from "./fake-sandboxes.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a sandbox that stands still while calls run there", () => {
  it("the call that began last stays", async () => {
    const { sandboxes, ends, moving } = opened(2);
    const hanging = ends(moving("hang"));
    await vi.advanceTimersByTimeAsync(0);
    void sandboxes[0]!.spin();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(hanging.end()).toBe("open");
    expect(sandboxes[1]!.seen).toEqual([]);
  });

  it("a call that began before the one of a neighbour that computes moves, and later ones of its kind", async () => {
    const { sandboxes, rack, ends, moving } = opened(3);
    const neighbour = opened(3, sandboxes, rack);
    const begunBefore = ends(moving("echo 1", "answer late"));
    await vi.advanceTimersByTimeAsync(5);
    const spinning = ends(neighbour.moving("spin"));
    await vi.advanceTimersByTimeAsync(100);
    const later = ends(moving("echo 2", "answer late"));
    await vi.advanceTimersByTimeAsync(700);
    expect([begunBefore.end(), later.end(), spinning.end()]).toEqual(["answered", "answered", "open"]);
    expect(sandboxes[0]!.seen).toContain("call echo 1");
    expect(sandboxes[2]!.seen).toContain("call echo 1");
  });

  it("a call of which something was heard stays, and later ones of its kind go on in another one", async () => {
    const { sandboxes, rack, load, call, ends, moving } = opened(3);
    const neighbour = opened(3, sandboxes, rack);
    await load("echo 1", "answer late");
    const heard = ends(call("echo 1", true));
    await vi.advanceTimersByTimeAsync(5);
    const spinning = ends(neighbour.moving("spin"));
    await vi.advanceTimersByTimeAsync(100);
    const later = ends(moving("echo 2", "answer late"));
    await vi.advanceTimersByTimeAsync(700);
    expect([heard.end(), later.end(), spinning.end()]).toEqual(["open", "answered", "open"]);
  });

  it("a kind that waits before it computes holds up two sandboxes the first time, then one", async () => {
    const { sandboxes, rack, ends, moving } = opened(3);
    const neighbour = opened(3, sandboxes, rack);
    const first = ends(moving("first", "wait, then spin"));
    await vi.advanceTimersByTimeAsync(5);
    // It begins after the one that computes later, and is suspected in its place.
    const other = ends(neighbour.moving("other", "hang"));
    await vi.advanceTimersByTimeAsync(5_000);
    expect([first.end(), other.end()]).toEqual(["open", "open"]);
    expect(sandboxes.map(({ seen }) => seen.filter((each) => each === "call first").length)).toEqual([1, 1, 0]);
    const fresh = ends(neighbour.moving("fresh"));
    await vi.advanceTimersByTimeAsync(1_200);
    expect(fresh.end()).toBe("answered");
    for (const sandbox of sandboxes) sandbox.die();
    await vi.advanceTimersByTimeAsync(0);
    void moving("again", "wait, then spin").catch(() => {});
    await vi.advanceTimersByTimeAsync(5);
    void neighbour.moving("other again", "hang");
    await vi.advanceTimersByTimeAsync(5_000);
    const held = sandboxes.filter(({ seen }) => seen.includes("call again"));
    expect(held.length).toBe(1);
  });

  it("a call announced just after one of a kind that held up another sandbox moves", async () => {
    const { sandboxes, ends, moving } = opened(3);
    void moving("first", "wait, then spin").catch(() => {});
    await vi.advanceTimersByTimeAsync(5);
    void moving("other", "hang").catch(() => {});
    await vi.advanceTimersByTimeAsync(5_000);
    for (const sandbox of sandboxes) sandbox.die();
    await vi.advanceTimersByTimeAsync(0);
    void moving("again", "wait, then spin").catch(() => {});
    await vi.advanceTimersByTimeAsync(5);
    const after = ends(moving("after", "answer late"));
    await vi.advanceTimersByTimeAsync(1_200);
    expect(after.end()).toBe("answered");
  });

  it("a sandbox is reported while a call that left it holds up a second one, and no other sandbox", async () => {
    const { sandboxes, rack, heldUp, ends, moving } = opened(3);
    const neighbour = opened(3, sandboxes, rack);
    void moving("first", "wait, then spin").catch(() => {});
    await vi.advanceTimersByTimeAsync(5);
    const other = ends(neighbour.moving("other", "answer late"));
    await vi.advanceTimersByTimeAsync(600);
    expect([...heldUp, ...neighbour.heldUp]).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(new Set(heldUp)).toEqual(new Set([0]));
    sandboxes[0]!.die();
    await vi.advanceTimersByTimeAsync(0);
    // As an isolate does, which runs a call again of which nothing was heard.
    expect(other.end()).toBe("Error: Network connection lost.");
    heldUp.length = 0;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([...heldUp, ...neighbour.heldUp]).toEqual([]);
  });
});

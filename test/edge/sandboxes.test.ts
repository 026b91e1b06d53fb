import type { IsolateCall } from "@keyhole/kernel";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { IsolateLoader } from "../../packages/edge/src/isolate/loader.ts";
import { severalSandboxes, Standstill } from "../../packages/edge/src/isolate/sandboxes.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A sandbox whose process stands still from when a tool of the name `spin` runs until it is let go. It says when a call begins, and answers nothing while it stands still. */
class FakeSandbox implements IsolateLoader {
  readonly seen: string[] = [];
  readonly #tools = new Map<string, string>();
  #still: PromiseWithResolvers<void> | undefined;
  isGone = false;

  spin(): Promise<void> {
    return (this.#still ??= Promise.withResolvers()).promise;
  }

  go(): void {
    this.#still?.resolve();
    this.#still = undefined;
  }

  die(): void {
    this.#still?.promise.catch(() => {});
    this.#still?.reject(new Error("Network connection lost."));
    this.#still = undefined;
    this.#tools.clear();
  }

  async load(id: string, { code }: { readonly code: unknown }): Promise<unknown> {
    this.#assertThere();
    this.seen.push(`load ${id}`);
    await this.#still?.promise;
    this.#tools.set(id, String(code));
    if (code === "spin at load") await this.spin();
    return { type: "loaded" };
  }

  async call(
    id: string,
    _: unknown,
    target: object,
  ): Promise<{ readonly kind: "answered"; readonly outcome: unknown }> {
    this.seen.push(`call ${id}`);
    await this.#still?.promise;
    const channel = target as Channel;
    channel.begun = true;
    const tool = this.#tools.get(id);
    if (tool === "hang") await new Promise(() => {});
    if (/^spin( \d)?$/.test(tool ?? "")) await this.spin();
    return { kind: "answered", outcome: tool };
  }

  async close(id: string): Promise<void> {
    this.seen.push(`close ${id}`);
  }

  async holds(id: string): Promise<boolean> {
    await this.#still?.promise;
    return this.#tools.has(id);
  }

  #assertThere(): void {
    if (this.isGone) throw new Error("Network connection lost.");
  }

  async ping(): Promise<void> {
    this.#assertThere();
    await this.#still?.promise;
  }
}

interface Channel {
  begun: boolean;
}

function opened(count: number, sandboxes = Array.from({ length: count }, () => new FakeSandbox())) {
  const loader = severalSandboxes(sandboxes);
  const load = (id: string, code: string = id) => loader.load(id, { code, cpuMs: 1_000 });
  const call = (id: string) => {
    const channel: Channel = { begun: false };
    return loader.call(id, {} as IsolateCall, channel, () => !channel.begun);
  };
  /** How it ends, at its time. */
  const ends = (promise: Promise<unknown>): { readonly end: () => string } => {
    let end = "open";
    promise.then(
      () => (end = "answered"),
      (error: unknown) => (end = error instanceof Standstill ? "standstill" : String(error)),
    );
    return { end: () => end };
  };
  /** As an isolate does: loaded again where it is to move. */
  const moving = async (id: string, code: string = id): Promise<void> => {
    for (;;)
      try {
        await load(id, code);
        return void (await call(id));
      } catch (error) {
        if (!(error instanceof Standstill)) throw error;
      }
  };
  return { sandboxes, loader, load, call, ends, moving };
}

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
    const { sandboxes, ends, moving } = opened(3);
    const spinning = [];
    for (let i = 1; i <= 3; i++) {
      spinning.push(ends(moving(`spin ${i}`)));
      await vi.advanceTimersByTimeAsync(10_000);
    }
    const own = ends(moving("own"));
    await vi.advanceTimersByTimeAsync(10_000);
    expect([...spinning, own].map(({ end }) => end())).toEqual(Array<string>(4).fill("open"));
    expect(sandboxes[2]!.seen).toEqual([]);
    const neighbour = opened(3, sandboxes);
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
    expect(sandboxes[2]!.seen).toEqual(["load other", "call other"]);
  });

  it("where a neighbour's tool holds one up, of which this kernel knows nothing, its own go on in another one", async () => {
    const { sandboxes, ends, moving, load } = opened(2);
    await load("warm");
    void sandboxes[0]!.spin();
    const [fresh, warm] = [ends(moving("fresh")), ends(moving("warm"))];
    await vi.advanceTimersByTimeAsync(600);
    expect([fresh.end(), warm.end()]).toEqual(["answered", "answered"]);
  });

  it("a call that has begun stays", async () => {
    const { sandboxes, ends, moving } = opened(2);
    const hanging = ends(moving("hang"));
    await vi.advanceTimersByTimeAsync(0);
    void sandboxes[0]!.spin();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(hanging.end()).toBe("open");
    expect(sandboxes[1]!.seen).toEqual([]);
  });

  it("a call that takes long in a sandbox that answers stays", async () => {
    const { sandboxes, ends, moving } = opened(2);
    const hanging = ends(moving("hang"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hanging.end()).toBe("open");
    expect(sandboxes[1]!.seen).toEqual([]);
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
    await expect(load("second")).rejects.toThrow("lost");
    const second = ends(load("second"));
    await vi.advanceTimersByTimeAsync(0);
    expect(second.end()).toBe("answered");
  });

  it("leaves no timer behind", async () => {
    const { ends, moving } = opened(2);
    const one = ends(moving("one"));
    await vi.advanceTimersByTimeAsync(0);
    expect(one.end()).toBe("answered");
    expect(vi.getTimerCount()).toBe(0);
  });
});

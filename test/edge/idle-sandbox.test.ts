import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { IsolateLoader } from "../../packages/edge/src/isolate/loader.ts";
import { packed } from "../../packages/edge/src/isolate/packet.ts";
import { Rack } from "../../packages/edge/src/isolate/sandbox-place.ts";
import { severalSandboxes } from "../../packages/edge/src/isolate/sandboxes.ts";

// A tool that goes on after its outcome holds up its whole sandbox, and no deadline of a call ends it: only who asks finds out.

/** Asks once, and then looks so often whether there is an answer. */
const LOOKS = 11;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new Promise<never>(() => {});

/** Stands still from when it is told to, and says when a call begins. */
class FakeSandbox implements IsolateLoader {
  readonly announces = true;
  still: PromiseWithResolvers<void> | undefined;
  pings = 0;
  /** Whether loads and calls take for ever. */
  hangs = false;

  async load(): Promise<unknown> {
    await this.still?.promise;
    if (this.hangs) await never;
    return { type: "loaded" };
  }

  async call(_: string, __: unknown, target: object) {
    await this.still?.promise;
    (target as Channel).begunAt = 1;
    if (this.hangs) await never;
    return { kind: "answered", outcome: "" } as const;
  }

  async close(): Promise<void> {}

  async holds(): Promise<boolean> {
    return true;
  }

  async ping(): Promise<void> {
    this.pings++;
    await this.still?.promise;
  }
}

interface Channel {
  begunAt: number | undefined;
  heard: boolean;
}

interface Kernel {
  readonly told: string[];
  readonly open: (id: string, code?: string) => Promise<void>;
  readonly call: (id: string) => Promise<unknown>;
  readonly close: (id: string) => Promise<void>;
}

/** Kernels of one process, which share their sandboxes. */
function tenants(count: number): { readonly sandbox: FakeSandbox; readonly kernels: readonly Kernel[] } {
  const sandboxes = [new FakeSandbox(), new FakeSandbox()];
  const rack = new Rack();
  const kernels = Array.from({ length: count }, () => {
    const loader = severalSandboxes(sandboxes, { rack });
    const told: string[] = [];
    return {
      told,
      open: async (id: string, code = id) => {
        await loader.load(id, { code, cpuMs: 1_000 });
        loader.watch!(id, (isAlone) => told.push(`${id} ${isAlone ? "alone" : "among others"}`));
      },
      call: (id: string) => {
        const channel: Channel = { begunAt: undefined, heard: false };
        return loader.call(id, packed({}), channel, channel);
      },
      close: (id: string) => loader.close(id),
    };
  });
  return { sandbox: sandboxes[0]!, kernels };
}

const one = (): { readonly sandbox: FakeSandbox; readonly kernel: Kernel } => {
  const { sandbox, kernels } = tenants(1);
  return { sandbox, kernel: kernels[0]! };
};
const look = (times: number): Promise<unknown> => vi.advanceTimersByTimeAsync(times * 1_000);
const stop = (sandbox: FakeSandbox): void => void (sandbox.still = Promise.withResolvers());

it("a sandbox that stands still while no call runs is told after ten silent looks, and not before", async () => {
  const { sandbox, kernel } = one();
  await kernel.open("a");
  await kernel.call("a");
  stop(sandbox);
  await look(LOOKS - 1);
  expect(kernel.told).toEqual([]);
  await look(1);
  expect(kernel.told).toEqual(["a alone"]);
  await look(5 * LOOKS);
  expect(kernel.told).toHaveLength(1);
});

it("one that answers is left alone, also when it is late", async () => {
  const { sandbox, kernel } = one();
  await kernel.open("a");
  await look(20);
  stop(sandbox);
  await look(LOOKS - 1);
  sandbox.still!.resolve();
  sandbox.still = undefined;
  await look(20);
  expect(kernel.told).toEqual([]);
});

it("a call that runs there has its own deadline, whoever's it is", async () => {
  const { sandbox, kernels } = tenants(2);
  const [kernel, neighbour] = kernels as [Kernel, Kernel];
  await kernel.open("a");
  await neighbour.open("b");
  sandbox.hangs = true;
  void neighbour.call("b");
  await look(1);
  stop(sandbox);
  await look(5 * LOOKS);
  expect([kernel.told, neighbour.told]).toEqual([[], []]);
});

it("a module that is loaded there has its own deadline", async () => {
  const { sandbox, kernels } = tenants(2);
  const [kernel, neighbour] = kernels as [Kernel, Kernel];
  await kernel.open("a");
  sandbox.hangs = true;
  void neighbour.open("b").catch(() => {}); // It goes on in the other one.
  await look(0);
  stop(sandbox);
  await look(5 * LOOKS);
  expect(kernel.told).toEqual([]);
});

it("a call that waits there for its turn changes nothing", async () => {
  const { sandbox, kernels } = tenants(2);
  const [kernel, neighbour] = kernels as [Kernel, Kernel];
  await kernel.open("a");
  await neighbour.open("b");
  stop(sandbox);
  void neighbour.call("b").catch(() => {});
  await look(LOOKS);
  expect(kernel.told).toEqual(["a among others"]);
});

it("nobody is named where another tool can be what goes on, a neighbour's or one that was closed a moment ago", async () => {
  const { sandbox, kernels } = tenants(2);
  const [kernel, neighbour] = kernels as [Kernel, Kernel];
  await kernel.open("a");
  await neighbour.open("b");
  await neighbour.close("b");
  stop(sandbox);
  await look(LOOKS);
  expect(kernel.told).toEqual(["a among others"]);
});

it("a tool in several sessions is alone, and so is one whose neighbour has been closed for a minute", async () => {
  const { sandbox, kernels } = tenants(2);
  const [kernel, neighbour] = kernels as [Kernel, Kernel];
  await kernel.open("a 1", "a");
  await kernel.open("a 2", "a");
  await neighbour.open("b");
  await neighbour.close("b");
  await look(61);
  stop(sandbox);
  await look(LOOKS);
  expect(kernel.told).toEqual(["a 1 alone", "a 2 alone"]);
});

it("is asked once at a time, also beside a call", async () => {
  const { sandbox, kernel } = one();
  await kernel.open("a");
  sandbox.hangs = true;
  void kernel.call("a");
  stop(sandbox);
  sandbox.pings = 0;
  await look(LOOKS);
  // Some of them look after the call that waits.
  expect(sandbox.pings).toBeLessThanOrEqual(3);
});

it("is asked by nobody when the last isolate is closed", async () => {
  const { sandbox, kernel } = one();
  await kernel.open("a");
  await kernel.close("a");
  await look(2);
  sandbox.pings = 0;
  await look(20);
  expect([sandbox.pings, vi.getTimerCount()]).toEqual([0, 0]);
});

it("one that was started again is watched again", async () => {
  const { sandbox, kernel } = one();
  for (let round = 1; round <= 2; round++) {
    await kernel.open("a");
    stop(sandbox);
    await look(LOOKS);
    expect(kernel.told).toHaveLength(round);
    sandbox.still!.resolve();
    sandbox.still = undefined;
    await look(0);
  }
});

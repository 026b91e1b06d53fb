import { createKernel, type Isolate, type IsolateHost, type ToolManifest } from "@keyhole/kernel";
import { browserHost, domFrameContainer, type FrameContainer } from "@keyhole/worker-host/browser";
import { calculator, echo } from "@keyhole/worker-host/tools";
import { afterEach, describe, expect, it, vi } from "vitest";
import { registered } from "../support/registered.ts";
import { callWith, moduleOf, quietPort, toolText } from "./open.ts";

const frames = (): HTMLIFrameElement[] => [...document.querySelectorAll<HTMLIFrameElement>("iframe[title=isolate]")];
/** Resolves in the microtask after the next frame is put into the page: before that frame can load. */
function addedFrame(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const observer = new MutationObserver(() => {
    if (frames().length === 0) return;
    observer.disconnect();
    resolve();
  });
  observer.observe(document, { childList: true, subtree: true });
  return promise;
}
const answer = (isolate: Isolate) => isolate.call(callWith(), quietPort);
const one = { kind: "returned", output: { form: "json", text: "1" } };

const good = moduleOf(toolText("return 1"));
const hanging = moduleOf(toolText("await new Promise(() => {})"));
const spinning = moduleOf(toolText("for (;;);"));

const hosts: IsolateHost[] = [];
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const host of hosts.splice(0)) await host.close();
});

async function openHost(options: Parameters<typeof browserHost>[0]): Promise<IsolateHost> {
  const host = await browserHost(options);
  hosts.push(host);
  return host;
}

describe("the isolation of each tool", () => {
  it("is what its host says of the manifest, and has the bounds that go with it", async () => {
    const host = await openHost({ isolation: ({ name }) => (name === "calculator" ? "interpreter" : "worker") });
    const kernel = await createKernel({ host, cache: false, policy: { version: "1", posture: "permissive" } });
    for (const tool of [calculator, echo]) expect(kernel.register(tool)).toMatchObject({ ok: true });
    const inputs = { calculator: { expression: "1+1" }, echo: { message: "a" } } as const;
    const call = (name: keyof typeof inputs, fuel?: number) =>
      kernel.call(name, inputs[name], fuel === undefined ? {} : { bounds: { fuel } });

    expect((await call("calculator")).meta.fuelUsed).toBeGreaterThan(1_000);
    expect(await call("calculator", 1_000)).toMatchObject({ error: { code: "OUT_OF_FUEL" } });
    const inWorker = await call("echo");
    expect(inWorker).toMatchObject({ ok: true, data: { message: "a" } });
    expect(inWorker.meta.fuelUsed).toBeUndefined();
    expect(await call("echo", 1_000)).toMatchObject({ error: { code: "UNSUPPORTED_HOST" } });
  });
});

describe("the pool of frames", () => {
  it("keeps as many warm as it is told to, before there is any tool", async () => {
    await openHost({ warm: 3 });
    await expect.poll(() => frames().length).toBe(3);
  });

  it("takes a warm one, and puts another in its place", async () => {
    const host = await openHost({ warm: 1 });
    const [warm] = frames();
    const isolate = await host.open(good);
    expect(frames()).toContain(warm);
    expect(await answer(isolate)).toEqual(one);
    await expect.poll(() => frames().length).toBe(2);
  });

  it("never uses a frame for a second tool", async () => {
    const host = await openHost({ warm: 0 });
    const first = await host.open(good);
    const [used] = frames();
    first.terminate("done");
    await host.open(good);
    expect(frames()).toHaveLength(1);
    expect(frames()).not.toContain(used);
  });

  it("lets a tool wait for a place when all are taken, in the order of asking", async () => {
    const host = await openHost({ warm: 0, maxIsolates: 2, idleBytes: 0 });
    const [a, b] = [await host.open(good), await host.open(good)];
    const order: string[] = [];
    const waiting = ["c", "d"].map((name) => host.open(good).then((isolate) => (order.push(name), isolate)));
    expect(await answer(a)).toEqual(one);
    expect([frames().length, order]).toEqual([2, []]);
    a.terminate("done");
    const c = await waiting[0]!;
    expect([frames().length, order]).toEqual([2, ["c"]]);
    b.terminate("done");
    await waiting[1];
    expect(order).toEqual(["c", "d"]);
    expect(await answer(c)).toEqual(one);
  });

  it("lets every tool in that asked at once, and opens no frame for those that still wait when it is closed", async () => {
    const host = await openHost({ warm: 0, maxIsolates: 12 });
    const opened = await Promise.all(Array.from({ length: 12 }, () => host.open(good)));
    expect(await Promise.all(opened.map(answer))).toEqual(opened.map(() => one));
    for (const isolate of opened) isolate.terminate("done");
    const waiting = Array.from({ length: 8 }, () => host.open(good));
    const ends = Promise.allSettled(waiting);
    await expect.poll(() => frames().length).toBe(2);
    await host.close();
    expect((await ends).map(({ status }) => status)).toEqual(waiting.map(() => "rejected"));
    expect(frames()).toEqual([]);
  });

  it.each([
    ["stay open for sessions that call in turn", 20, {}, 20],
    ["end beyond `idleBytes`: each counts 6 MiB", 3, { idleBytes: 12 * 2 ** 20 }, 2],
  ])("frames that no call uses %s", async (_, sessions, options, open) => {
    const host = await openHost({ warm: 0, maxIsolates: 2, ...options });
    const kernel = await createKernel({ host, cache: false, policy: { version: "1", posture: "standard" } });
    expect(kernel.register(echo)).toMatchObject({ ok: true });
    const used = async (): Promise<void> => {
      for (let n = 0; n < sessions; n++)
        expect(await kernel.call("echo", { message: "a" }, { sessionId: `${n}` })).toMatchObject({ ok: true });
    };
    await used();
    await expect.poll(() => frames().length).toBe(open);
    const before = frames();
    await used();
    await expect.poll(() => frames().length).toBe(open);
    expect(frames().filter((each) => before.includes(each))).toHaveLength(open === sessions ? open : 0);
    await kernel.close();
  });

  it("opens no frame for nobody, and keeps no place for it", async () => {
    const host = await openHost({ warm: 0, maxIsolates: 1, idleBytes: 0 });
    const none = Array.from({ length: 3 }, () => host.open(good, () => false));
    for (const { status } of await Promise.allSettled(none)) expect(status).toBe("rejected");
    expect(frames()).toEqual([]);
    expect(await answer(await host.open(good, () => true))).toEqual(one);
  });

  it("keeps no place for a tool that nobody wants when its start has its turn", async () => {
    const host = await openHost({ warm: 0, maxIsolates: 1, idleBytes: 0 });
    const answers = [true, false]; // The first is asked for its place, the second for its start.
    await expect(host.open(good, () => answers.shift() ?? false)).rejects.toMatchObject({ code: "ISOLATE_LOST" });
    expect([answers, frames()]).toEqual([[], []]);
    expect(await answer(await host.open(good))).toEqual(one);
  });

  it("gives the place of a warm one to a tool that cannot use it", async () => {
    const isolation = ({ name }: ToolManifest) => (name === "calculator" ? "interpreter" : "worker");
    const host = await openHost({ isolation, warm: 1, maxIsolates: 1, idleBytes: 0 });
    for (const tool of [calculator, echo].map((each) => registered(each))) {
      const isolate = await host.open(tool);
      expect([isolate.alive, frames().length]).toEqual([true, 1]);
      isolate.terminate("done");
    }
  });

  it("counts a place as taken for as long as a killed thread may spin", async () => {
    const host = await openHost({ warm: 0, maxIsolates: 1, idleBytes: 0 });
    const spinner = await host.open(spinning);
    const lost = answer(spinner);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    spinner.terminate("deadline");
    // The caller is answered and the frame is gone at once; the place is not.
    expect(await lost).toEqual({ kind: "lost", reason: "deadline" });
    expect(frames()).toEqual([]);
    let opened = false;
    const next = host.open(good).then((isolate) => ((opened = true), isolate));
    vi.advanceTimersByTime(2_499);
    await Promise.resolve();
    expect([opened, frames().length]).toEqual([false, 0]);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    expect(await answer(await next)).toEqual(one);
  });

  it("gives the place of a tool that did not load to the next one", async () => {
    const host = await openHost({ warm: 0, maxIsolates: 1, idleBytes: 0 });
    await expect(host.open(moduleOf("throw new Error('no')"))).rejects.toMatchObject({
      code: "TOOL_ERROR",
      message: expect.stringContaining("Error: no"),
    });
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const next = host.open(good);
    vi.advanceTimersByTime(2_500);
    vi.useRealTimers();
    expect(await answer(await next)).toEqual(one);
  });

  it("stops a module that never ends loading", async () => {
    const host = await openHost({ warm: 1 });
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const opening = host.open(moduleOf("for (;;);"));
    const refused = expect(opening).rejects.toMatchObject({ name: "IsolateFailure", code: "TOOL_ERROR" });
    await Promise.resolve(); // It has its warm frame, and its time runs.
    vi.advanceTimersByTime(5_000);
    await refused;
    vi.useRealTimers();
    expect(await answer(await host.open(good))).toEqual(one);
  });

  it("opens nothing once it is closed", async () => {
    const host = await openHost({ warm: 1 });
    const isolate = await host.open(hanging);
    const lost = answer(isolate);
    await host.close();
    expect(await lost).toEqual({ kind: "lost", reason: "the host was closed" });
    expect(frames()).toEqual([]);
    await expect(host.open(good)).rejects.toMatchObject({ code: "ISOLATE_LOST" });
  });
});

/** Calls `onPong` behind each answer of a frame that the page hears: the page hears none in `silent`. `started` has the ports in the order of their starts. */
function watchFrames(onPong: () => void) {
  const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage")!;
  const [started, silent]: [MessagePort[], Set<MessagePort>] = [[], new Set()];
  vi.spyOn(MessagePort.prototype, "onmessage", "set").mockImplementation(function (this: MessagePort, listener) {
    set!.call(this, (event: MessageEvent<{ readonly type?: unknown } | null>) => {
      if (silent.has(this)) return;
      listener?.call(this, event);
      if (event.data?.type === "started") started.push(this);
      if (event.data?.type === "pong") onPong();
    });
  });
  return { started, silent };
}

describe("the heartbeat", () => {
  it("finds a frame that is gone, and no other", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    let onPong = (): void => {};
    const { started, silent } = watchFrames(() => onPong());
    const host = await openHost({ warm: 0 });
    const dead = await host.open(hanging);
    const alive = await host.open(good);
    const lost = answer(dead);
    let settled = false;
    void lost.then(() => (settled = true));
    silent.add(started[0]!); // What the death of its process leaves of a frame: nobody answers.
    for (let beat = 0; beat < 10; beat++) {
      const answered = new Promise<void>((resolve) => (onPong = resolve));
      vi.advanceTimersByTime(1_000);
      await answered; // By the other frame.
    }
    expect(settled).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(await lost).toEqual({ kind: "lost", reason: "its process died" });
    expect([dead.alive, alive.alive]).toEqual([false, true]);
    expect(await answer(alive)).toEqual(one);
  });

  it("takes no frame that still loads for dead", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    const host = await openHost({ warm: 0 });
    const added = addedFrame();
    const opening = host.open(good);
    await added;
    vi.advanceTimersByTime(20_000);
    expect(await answer(await opening)).toEqual(one);
  });
});

describe("a host without a container that works", () => {
  it("says so with the failure of the container", async () => {
    const broken: FrameContainer = {
      open: async () => ({ ok: false, code: "ISOLATE_LOST", message: "no frame today", hints: { hint: "tomorrow" } }),
      close: () => {},
      watch: () => {},
    };
    await expect(browserHost({ container: broken })).rejects.toMatchObject({
      name: "IsolateFailure",
      message: "no frame today",
      hints: { hint: "tomorrow" },
    });
  });

  it("survives a warm frame that dies before it is used", async () => {
    const container = domFrameContainer();
    let onLost: (id: string, reason: string) => void = () => {};
    const opened: string[] = [];
    const watched: FrameContainer = {
      open: (id, port, shell) => (opened.push(id), container.open(id, port, shell)),
      close: (id) => container.close(id),
      watch: (listener) => void (onLost = listener),
    };
    const host = await openHost({ container: watched, warm: 1 });
    onLost(opened[0]!, "its process died");
    expect(await answer(await host.open(good))).toEqual(one);
  });
});

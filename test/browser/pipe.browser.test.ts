import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hardenPipes } from "../../packages/worker-host/src/guest/harden/pipe.ts";
import { sized } from "../support/size.ts";

type Pipes = Pick<ReadableStream, "pipeTo" | "pipeThrough">;
const { pipeTo, pipeThrough } = ReadableStream.prototype;
const native: Pipes = { pipeTo, pipeThrough };
const ours = {} as Pipes;
hardenPipes(ours);

/** All microtasks run before the next task. */
function settled(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => resolve(port1.close());
    port2.postMessage(null);
  });
}

/** What may happen to the two streams and to the signal, from outside. */
const goings = ["enqueue", "ack"] as const;
const endings = ["close", "error", "sinkError", "abort", "reject"] as const;
type Act = (typeof goings | typeof endings)[number];

interface Plan {
  readonly before: readonly ("enqueue" | "close" | "error" | "sinkClosed" | "sinkError" | "abort")[];
  readonly steps: readonly (readonly Act[])[];
  readonly sourceRoom: number;
  readonly sinkRoom: number;
  /** Each write waits for an `ack` or a `reject`. */
  readonly isSlow: boolean;
  readonly failsAt: "cancel" | "abort" | "close" | "nothing";
  readonly prevent: readonly [abort: boolean, cancel: boolean, close: boolean];
}

const flag = fc.boolean();
/** Where two things that race happen in one turn, the engines do not agree on which comes first. */
const steps = fc
  .tuple(
    fc.array(fc.constantFrom(...goings), { maxLength: 2 }),
    fc.option(fc.constantFrom(...endings)),
    fc.array(fc.constantFrom(...goings), { maxLength: 2 }),
  )
  .map(([before, ending, after]): Act[] =>
    ending === "abort" ? [ending] : [...before, ...(ending ? [ending] : []), ...after],
  );
const plans: fc.Arbitrary<Plan> = fc.record({
  before: fc.uniqueArray(fc.constantFrom("enqueue", "close", "error", "sinkClosed", "sinkError", "abort"), {
    maxLength: 3,
  }),
  steps: fc.array(steps, { maxLength: 8 }),
  sourceRoom: fc.nat(2),
  sinkRoom: fc.nat(2),
  isSlow: flag,
  failsAt: fc.constantFrom("nothing", "nothing", "cancel", "abort", "close"),
  prevent: fc.tuple(flag, flag, flag),
});

/** Without the text of a `TypeError`, which is the engine's. */
const named = (error: unknown): string => (error instanceof TypeError ? "TypeError" : String(error));
const ignore = (): void => undefined;

interface World {
  readonly log: string[];
  readonly readable: ReadableStream;
  readonly writable: WritableStream;
  readonly signal: AbortSignal;
  readonly act: (name: Act | Plan["before"][number]) => void;
  readonly hasPending: () => boolean;
}

function worldOf(plan: Plan): World {
  const log: string[] = [];
  const told = (name: Plan["failsAt"], more: unknown = ""): void => {
    log.push(`${name} ${named(more)}`);
    if (plan.failsAt === name) throw new RangeError(`failed ${name}`);
  };
  const pending: PromiseWithResolvers<void>[] = [];
  let source!: ReadableStreamDefaultController;
  let sink!: WritableStreamDefaultController;
  const readable = new ReadableStream(
    { start: (controller) => void (source = controller), cancel: (why) => told("cancel", why) },
    { highWaterMark: plan.sourceRoom },
  );
  const write = (chunk: unknown): Promise<void> | undefined => {
    log.push(`write ${String(chunk)}`);
    if (!plan.isSlow) return undefined;
    return pending[pending.push(Promise.withResolvers<void>()) - 1]!.promise;
  };
  const writable = new WritableStream(
    {
      start: (controller) => void (sink = controller),
      write,
      close: () => told("close"),
      abort: (why) => told("abort", why),
    },
    { highWaterMark: plan.sinkRoom },
  );
  const aborter = new AbortController();
  let chunks = 0;
  let isClosing = false;
  const doing: Record<Act | Plan["before"][number], () => unknown> = {
    enqueue: () => source.enqueue(++chunks),
    close: () => (source.close(), (isClosing = true)),
    error: () => source.error(new Error("source")),
    // Its last write ends with it: whether a pipe waits for that one, the engines do not agree.
    sinkError: () => (sink.error(new Error("sink")), pending.splice(0).forEach(({ resolve }) => resolve())),
    sinkClosed: () => writable.close().catch(ignore),
    abort: () => aborter.abort(new Error("aborted")),
    ack: () => pending.shift()?.resolve(),
    reject: () => pending.shift()?.reject(new Error("write")),
  };
  const act: World["act"] = (name) => {
    // A pipe that waits for its last writes: by the standard nothing else ends it, and it writes what still comes. Chromium differs.
    if (isClosing && plan.isSlow && ["abort", "reject", "sinkError"].includes(name)) return;
    if (aborter.signal.aborted && name === "enqueue") return;
    try {
      doing[name]();
    } catch {
      // Closed already.
    }
  };
  return { log, readable, writable, signal: aborter.signal, act, hasPending: () => pending.length > 0 };
}

/** Everything that can be seen of a pipe that goes by this plan. */
async function seen(pipes: Pipes, plan: Plan): Promise<string[]> {
  const { log, readable, writable, signal, act, hasPending } = worldOf(plan);
  plan.before.forEach(act);
  await settled();
  const [preventAbort, preventCancel, preventClose] = plan.prevent;
  pipes.pipeTo.call(readable, writable, { preventAbort, preventCancel, preventClose, signal }).then(
    () => log.push("fulfilled"),
    (error: unknown) => log.push(`rejected ${named(error)}`),
  );
  for (const step of [[], ...plan.steps]) {
    step.forEach(act);
    await settled();
    log.push(`${readable.locked} ${writable.locked}`);
  }
  while (hasPending()) {
    act("ack");
    await settled();
  }
  if (!readable.locked) log.push(await remains(readable));
  return log;
}

async function remains(readable: ReadableStream): Promise<string> {
  const reader = readable.getReader();
  const parts: unknown[] = [];
  const ended = (async () => {
    for (let step = await reader.read(); !step.done; step = await reader.read()) parts.push(step.value);
    parts.push("closed");
  })().catch((error: unknown) => parts.push(String(error)));
  await Promise.race([ended, settled()]);
  return `left ${parts.join()}`;
}

const open = (): ReadableStream => new ReadableStream();
const streamOf = (...chunks: readonly unknown[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
async function collected(stream: ReadableStream): Promise<unknown[]> {
  const reader = stream.getReader();
  const parts: unknown[] = [];
  for (let step = await reader.read(); !step.done; step = await reader.read()) parts.push(step.value);
  return parts;
}
const locked = <Stream extends ReadableStream | WritableStream>(stream: Stream): Stream => {
  if ("getReader" in stream) stream.getReader();
  else stream.getWriter();
  return stream;
};
const closing = (): WritableStream => {
  const stream = new WritableStream({ close: () => new Promise(ignore) }, { highWaterMark: 0 });
  void stream.close();
  return stream;
};

/** Uses that end at once: with what, the engine's own tells. */
const uses: Readonly<Record<string, (pipes: Pipes) => unknown>> = {
  "a source that is locked": (p) => p.pipeTo.call(locked(open()), new WritableStream()),
  "a source that is none": (p) => p.pipeTo.call({} as ReadableStream, new WritableStream()),
  "a sink that is locked": (p) => p.pipeTo.call(open(), locked(new WritableStream())),
  "a sink that is none": (p) => p.pipeTo.call(open(), {} as WritableStream),
  "a sink that is closing": (p) => p.pipeTo.call(open(), closing()),
  "options that are none": (p) => p.pipeTo.call(open(), new WritableStream(), 1 as StreamPipeOptions),
  "a signal that is none": (p) => p.pipeTo.call(open(), new WritableStream(), { signal: {} as AbortSignal }),
  "a refusal, which leaves both unlocked": async (p) => {
    const [source, sink] = [open(), new WritableStream()];
    await p.pipeTo.call(locked(open()), sink).catch(ignore);
    await p.pipeTo.call(source, locked(new WritableStream())).catch(ignore);
    return [source.locked, sink.locked];
  },
  "options of nothing": (p) => p.pipeTo.call(streamOf(1), new WritableStream(), null as unknown as StreamPipeOptions),
  "members in their order": async (p) => {
    const read: string[] = [];
    const options = new Proxy({}, { get: (_, key) => void read.push(String(key)) });
    await p.pipeTo.call(streamOf(1), new WritableStream(), options);
    return read;
  },
  "a pair": async (p) => {
    const pair = new TransformStream();
    const readable = p.pipeThrough.call(streamOf(1, 2), pair);
    return [readable === pair.readable, await collected(readable)];
  },
  "a pair that fails": (p) => {
    const pair = new TransformStream({ transform: () => Promise.reject(new RangeError("on purpose")) });
    return collected(p.pipeThrough.call(streamOf(1), pair));
  },
  "a pair without a stream": (p) =>
    p.pipeThrough.call(open(), { readable: {} as ReadableStream, writable: new WritableStream() }),
  "a pair that is locked": (p) =>
    p.pipeThrough.call(open(), { readable: open(), writable: locked(new WritableStream()) }),
  "what they are called": (p) => [p.pipeTo.name, p.pipeTo.length, p.pipeThrough.name, p.pipeThrough.length],
};

async function outcome(use: () => unknown): Promise<unknown> {
  let thrown = "at once";
  try {
    const result = use();
    thrown = "later";
    return [await result];
  } catch (error) {
    return [thrown, (error as Error).name];
  }
}

describe("a pipe of the hardened realm", () => {
  it.each(Object.keys(uses))("treats as the engine's own does: %s", async (name) => {
    expect(await outcome(() => uses[name]!(ours))).toEqual(await outcome(() => uses[name]!(native)));
  });

  it("does what the engine's own does", async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        expect(await seen(ours, plan)).toEqual(await seen(native, plan));
      }),
      { numRuns: sized(100, 20_000) },
    );
  });
});

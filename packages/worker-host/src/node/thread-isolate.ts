import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type Isolate, IsolateFailure } from "@keyhole/kernel";
import { FairSemaphore } from "@keyhole/kernel/fair-semaphore";
import { takeSlot } from "../isolate-slot.ts";
import { GuestChannel } from "../protocol/channel.ts";
import { loadFailure } from "../protocol/load-failure.ts";
import type { LoadedCode } from "../protocol/message.ts";
import { ResumableCalls } from "../wasm/interpreter/resumable.ts";
import { type Priority, priorityOf } from "./priority.ts";
import { portOf } from "./thread-port.ts";

export interface ThreadScript {
  /** A module as a `data:` URL. */
  readonly url: URL;
  readonly workerData?: unknown;
  /** The thread is a relay of ours around an interpreter. */
  readonly metered: boolean;
  /** The interpreter is one of JavaScript, whose calls can be suspended. */
  readonly resumable?: boolean;
  /** Memory that the interpreter gives a module while it is loaded. Default: as much as a call without a bound has. */
  readonly memoryBytes?: number | undefined;
  /** Until the thread has to answer. Default 30,000. */
  readonly startTimeoutMs?: number | undefined;
}

/** A start takes some 25 ms of a core; a busy machine takes seconds. */
const START_MS = 30_000;

/** A module that takes this long to load is not going to end. */
const LOAD_MS = 5_000;

/** Of a thread without the memory of its tool: measured. */
const THREAD_BYTES = 8 * 2 ** 20;

interface Thread extends Pick<Isolate, "terminate"> {
  readonly worker: Worker;
  readonly channel: GuestChannel;
  readonly priority: Priority;
}

/**
 * A thread's start takes some 25 ms of a core, before any code of the tool is there. One core is left to the tools that run already: started all at
 * once, a handful of new sessions makes every other tool wait several times as long.
 */
const starts = new FairSemaphore(Math.max(1, availableParallelism() - 1));

/**
 * One tool in a thread of its own, stopped with it.
 *
 * @param open where the thread is noted for as long as it lives
 * @param isWanted asked when its turn to start has come. Default: it is
 */
export async function openThread(
  name: string,
  code: LoadedCode,
  script: ThreadScript,
  open: Set<Isolate["terminate"]>,
  isWanted?: () => boolean,
): Promise<Isolate> {
  const thread = await startThread(name, script, open, isWanted);
  const { channel, terminate } = thread;
  const tooSlow = setTimeout(() => terminate("it did not load in time"), LOAD_MS);
  const loaded = await channel.load(code, script.memoryBytes);
  clearTimeout(tooSlow);
  if (loaded.kind === "loaded") return isolateOf(thread, script.resumable === true && new ResumableCalls(channel));
  terminate("the tool did not load");
  throw loadFailure(name, loaded);
}

/** A thread that goes on with a call that was suspended in another one. */
export async function thawThread(
  name: string,
  snapshot: Uint8Array<ArrayBuffer>,
  script: ThreadScript,
  open: Set<Isolate["terminate"]>,
  isWanted?: () => boolean,
): Promise<Isolate> {
  const thread = await startThread(name, script, open, isWanted);
  return isolateOf(thread, new ResumableCalls(thread.channel, snapshot));
}

/** Up to the point where it can be given something to do. */
async function startThread(
  name: string,
  script: ThreadScript,
  open: Set<Isolate["terminate"]>,
  isWanted?: () => boolean,
): Promise<Thread> {
  const started = await takeSlot(starts, name, isWanted);
  try {
    return await startedThread(script, open);
  } finally {
    started();
  }
}

/** In the names of threads: this copy of the module, of which a process may have two, and how many threads it has begun to start. */
const copy = randomInt(36 ** 2).toString(36);
let threads = 0;

async function startedThread(
  { url, workerData, metered, startTimeoutMs = START_MS }: ThreadScript,
  open: Set<Isolate["terminate"]>,
): Promise<Thread> {
  const threadName = `keyhole ${copy}.${(++threads).toString(36)}`;
  // Throws where the system has no thread to give.
  const worker = new Worker(url, { env: {}, stdin: false, stdout: true, stderr: true, workerData, name: threadName });
  const channel = new GuestChannel(portOf(worker), (reason) => terminate(`protocol: ${reason}`), { metered });
  let ended: string | undefined;
  const terminate = (reason: string): void => {
    ended ??= reason;
    channel.close(reason);
    open.delete(terminate);
    void worker.terminate();
  };
  open.add(terminate);
  // A thread can fail more than once, and an unhandled error ends the process.
  worker.on("error", (error) => terminate(`the thread failed: ${String(error)}`));
  worker.once("exit", () => terminate("the thread ended"));
  const tooSlow = setTimeout(() => terminate(`it did not answer within ${startTimeoutMs} ms`), startTimeoutMs);
  const ready = await channel.ready;
  clearTimeout(tooSlow);
  if (ready === undefined)
    throw new IsolateFailure("ISOLATE_LOST", `The isolate's thread did not start: ${ended ?? "it ended"}.`);
  return { worker, channel, priority: priorityOf(worker, threadName), terminate };
}

/** A thread keeps the process alive while a call waits for it, and no longer. */
function isolateOf({ worker, channel, priority, terminate }: Thread, resumable: ResumableCalls | false): Isolate {
  let calls = 0;
  worker.unref();
  return {
    async call(call, port) {
      if (calls++ === 0) {
        worker.ref();
        priority.begin();
      }
      try {
        return await (resumable || channel).call(call, port);
      } finally {
        if (--calls === 0) {
          priority.end();
          worker.unref();
        }
      }
    },
    ...(resumable && { suspend: () => resumable.suspend() }),
    watch: (onWentOn) => channel.onWentOn(onWentOn),
    terminate,
    get heldBytes() {
      return THREAD_BYTES + channel.peakMemoryBytes;
    },
    get alive() {
      return channel.open;
    },
  };
}

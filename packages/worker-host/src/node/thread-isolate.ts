import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { serialize } from "node:v8";
import { Worker } from "node:worker_threads";
import { type Isolate, IsolateFailure } from "@keyhole/kernel";
import { type GuestChannel, type GuestPort, openChannel } from "../protocol/channel.ts";
import { protocolLimits } from "../protocol/limits.ts";
import type { LoadedCode } from "../protocol/message.ts";
import { nobodyWaits, Starts } from "../starts.ts";
import { ResumableCalls } from "../wasm/interpreter/resumable.ts";
import { type Priority, priorityOf } from "./priority.ts";

export interface ThreadScript {
  /** A module as a `data:` URL. */
  readonly url: URL;
  readonly workerData?: unknown;
  /** The thread is a relay of ours around an interpreter. */
  readonly metered: boolean;
  /** The interpreter is one of JavaScript, whose calls can be suspended. */
  readonly resumable?: boolean;
}

/** A module that takes this long to load is not going to end. */
const LOAD_MS = 5_000;

interface Thread extends Pick<Isolate, "terminate"> {
  readonly worker: Worker;
  readonly channel: GuestChannel;
  readonly priority: Priority;
}

/**
 * A thread's start takes some 25 ms of a core, before any code of the tool is there. One core is left to the tools that run already: started all at
 * once, a handful of new sessions makes every other tool wait several times as long.
 */
const starts = new Starts(Math.max(1, availableParallelism() - 1));

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
  const loaded = await channel.load(code);
  clearTimeout(tooSlow);
  if (loaded.kind === "loaded") return isolateOf(thread, script.resumable === true && new ResumableCalls(channel));
  terminate("the tool did not load");
  const reason = loaded.kind === "failed" ? `${loaded.name}: ${loaded.message}` : loaded.reason;
  throw new IsolateFailure("TOOL_ERROR", `The module of ${name} failed to load: ${reason}.`);
}

/** A thread that goes on with a call that was suspended in another one. */
export async function thawThread(
  name: string,
  snapshot: Uint8Array<ArrayBuffer>,
  script: ThreadScript,
  open: Set<Isolate["terminate"]>,
): Promise<Isolate> {
  const thread = await startThread(name, script, open);
  return isolateOf(thread, new ResumableCalls(thread.channel, snapshot));
}

/** Up to the point where it can be given something to do. */
async function startThread(
  name: string,
  script: ThreadScript,
  open: Set<Isolate["terminate"]>,
  isWanted?: () => boolean,
): Promise<Thread> {
  const started = await starts.take(name, isWanted);
  if (!started) throw nobodyWaits();
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
  { url, workerData, metered }: ThreadScript,
  open: Set<Isolate["terminate"]>,
): Promise<Thread> {
  const threadName = `keyhole ${copy}.${(++threads).toString(36)}`;
  // Throws where the system has no thread to give.
  const worker = new Worker(url, { env: {}, stdin: false, stdout: true, stderr: true, workerData, name: threadName });
  const channel = openChannel(portOf(worker), (reason) => terminate(`protocol: ${reason}`), { metered });
  const terminate = (reason: string): void => {
    channel.close(reason);
    open.delete(terminate);
    void worker.terminate();
  };
  open.add(terminate);
  // A thread can fail more than once, and an error that nobody hears ends the process.
  worker.on("error", (error) => terminate(`the thread failed: ${String(error)}`));
  worker.once("exit", () => terminate("the thread ended"));
  const tooSlow = setTimeout(() => terminate("it did not start in time"), LOAD_MS);
  await channel.ready;
  clearTimeout(tooSlow);
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
    terminate,
    get alive() {
      return channel.open;
    },
  };
}

/** Of one thread, in one turn of the event loop. Node alone lets each have a thousand, and one that asks without end keeps all others waiting. */
const MESSAGES_AT_ONCE = 16;
/** Of messages that wait for their turn: more than a thousand lines of the greatest length. */
const WAITING_BYTES = 16_777_216;

/** A worker as the port that a channel owns. Its messages come to a listener that the channel can drop. */
function portOf(worker: Worker): GuestPort {
  let waiting: unknown[] = [];
  /** Without the last one: what ends a call is as large as its output, and seldom has another one behind it. */
  let waitingBytes = 0;
  let left = MESSAGES_AT_ONCE;
  const port: GuestPort = {
    postMessage: (message, options) => worker.postMessage(message, options?.transfer),
    onmessage: null,
    onmessageerror: null,
    close() {
      worker.removeAllListeners("message");
      waiting = [];
    },
  };
  const deliver = (data: unknown): void => {
    if (left === MESSAGES_AT_ONCE) setImmediate(nextTurn);
    left -= 1;
    port.onmessage?.({ data } as MessageEvent);
  };
  const deliverWaiting = (count: number): void => {
    for (const data of waiting.splice(0, count)) deliver(data);
  };
  const nextTurn = (): void => {
    left = MESSAGES_AT_ONCE;
    deliverWaiting(left);
  };
  worker.on("message", (data: unknown) => {
    if (left > 0) return deliver(data);
    waitingBytes = waiting.length === 0 ? 0 : waitingBytes + bytesOf(waiting.at(-1));
    waiting.push(data);
    // More than a call may send: the channel ends it when it hears of them, and waiting for their turn they would fill the memory.
    if (waiting.length > protocolLimits.messages || waitingBytes > WAITING_BYTES) deliverWaiting(waiting.length);
  });
  worker.on("messageerror", (data: unknown) => port.onmessageerror?.({ data } as unknown as MessageEvent));
  return port;
}

function bytesOf(message: unknown): number {
  try {
    return serialize(message).length;
  } catch {
    return Infinity; // A port, or something else that the shell never sends.
  }
}

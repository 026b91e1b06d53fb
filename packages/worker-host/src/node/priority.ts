import { readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import type { Worker } from "node:worker_threads";

/** Between two looks at the threads that have a call. */
const LOOK_MS = 5;

/** On a processor, without waiting for anything in between. Most calls are over by then. */
const LONG_MS = 10;

/** How much nicer: of a core that others want as well it has a third of what each of them gets, and all of a free one. */
const NICER = 5;
const NICEST = 19;

/** The place of one thread among those that want a core. */
export interface Priority {
  /** It has a call from now on. */
  begin(): void;
  end(): void;
}

interface Thread {
  readonly worker: Worker;
  readonly name: string;
  /** The system's; looked up when it is needed first. */
  taskId: string | undefined;
  /** How long it had waited at the last look. */
  idleMs: number;
  /** Its computing time at the first look since its last wait. */
  computedMs: number | undefined;
  isLow: boolean;
}

/** Threads with a call and without a low priority. */
const busy = new Set<Thread>();
let timer: NodeJS.Timeout | undefined;

/**
 * Lowers a thread that computes for long, so that the kernel and other tools are served before it.
 * For good: a process without privileges cannot undo it, and on a free core it costs nothing. Only
 * on Linux: elsewhere a priority is that of the process.
 *
 * @param name of this thread alone, of at most 15 bytes: by it the thread is found among those of the process
 */
export function priorityOf(worker: Worker, name: string): Priority {
  const thread: Thread = { worker, name, taskId: undefined, idleMs: -1, computedMs: undefined, isLow: false };
  return {
    begin() {
      if (process.platform !== "linux" || thread.isLow) return;
      thread.idleMs = -1;
      busy.add(thread);
      timer ??= setInterval(lookAtAll, LOOK_MS).unref();
    },
    end: () => void busy.delete(thread),
  };
}

function lookAtAll(): void {
  for (const thread of busy) {
    try {
      look(thread);
    } catch {
      // It, or another one that was looked through, has just ended; or the system keeps such things to itself.
    }
  }
  // Not with the last call: a caller of many calls does not pay for a timer each time.
  if (busy.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

function look(thread: Thread): void {
  // The cheap question first: a thread that waited in between does not compute for long.
  const { idle } = thread.worker.performance.eventLoopUtilization();
  if (idle !== thread.idleMs) {
    thread.idleMs = idle;
    thread.computedMs = undefined;
    return;
  }
  // Its processor time, not its age: a thread that waits for its core must not lose priority.
  thread.taskId ??= taskIdOf(thread.name);
  if (thread.taskId === "") return void busy.delete(thread);
  const computedMs = Number(readFileSync(`/proc/self/task/${thread.taskId}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  thread.computedMs ??= computedMs;
  if (computedMs - thread.computedMs < LONG_MS) return;
  const task = Number(thread.taskId);
  setPriority(task, Math.min(NICEST, getPriority(task) + NICER));
  thread.isLow = true;
  busy.delete(thread);
}

/** Empty where the system does not know threads by their names: then there is no second look. */
function taskIdOf(name: string): string {
  const isIt = (id: string): boolean => readFileSync(`/proc/self/task/${id}/comm`, "utf8").trimEnd() === name;
  return readdirSync("/proc/self/task").find(isIt) ?? "";
}

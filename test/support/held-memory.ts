import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A collection takes tens of milliseconds. */
const LOOK_MS = 100;

/** Full collections. What a weak reference was read from lives until the end of that task, and what it held until the one after. */
export async function collectGarbage(): Promise<void> {
  const collect = collector();
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}

function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // The flag holds for the process: a realm that is made from here on has no `gc`.
  setFlagsFromString("--no-expose-gc");
  return collect;
}

/**
 * Runs it, and measures the most bytes that buffers held at a time. Collects garbage before each look, so that only what is
 * still reachable counts, however late the collector would come by itself.
 */
export async function heldDuring<Result>(
  run: () => Result | Promise<Result>,
): Promise<{ result: Result; peakBytes: number }> {
  const collect = collector();
  const held = (): number => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const before = held();
  let peakBytes = 0;
  let isOver = false;
  const running = Promise.resolve(run()).finally(() => (isOver = true));
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    peakBytes = Math.max(peakBytes, held() - before);
  }
  return { result: await running, peakBytes };
}

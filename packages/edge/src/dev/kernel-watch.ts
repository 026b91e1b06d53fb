import { isAnswering } from "./asking.ts";
import { causesOf } from "./readiness.ts";

const lookEveryMs = 1_000;
/** A kernel that checks a large body stands still for some seconds, and is well. */
const patienceMs = 30_000;
/** So long a kernel may say that it has no sandbox while one answers us: it finds its way to a new one in less. */
const lostWayMs = 4_000;

/**
 * Watches the kernel from outside: one that stands still for long, or that has lost its way to the sandboxes that are there, is started again.
 *
 * @returns ends it
 */
export function watchKernel(
  kernel: { readonly url: string; restart(): Promise<void> },
  sandboxes: readonly { readonly url: string }[],
): () => void {
  let lostSinceMs = 0;
  let looking = false;

  async function isLost(): Promise<boolean> {
    const causes = await causesOf(kernel.url, patienceMs);
    if (causes === undefined && !(await isAnswering(`${kernel.url}/livez`, patienceMs))) return true;
    // Another start changes no setting, and mends no log.
    const hasNoSandbox = causes === undefined || causes.some(({ code }) => code === "ISOLATE_LOST");
    const areThere = sandboxes.map(({ url }) => isAnswering(`${url}/healthz`, lookEveryMs));
    if (!hasNoSandbox || !(await Promise.all(areThere)).includes(true)) {
      lostSinceMs = 0;
      return false;
    }
    lostSinceMs ||= Date.now();
    return Date.now() - lostSinceMs > lostWayMs;
  }

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    if (await isLost()) {
      await kernel.restart();
      lostSinceMs = 0;
    }
    looking = false;
  }

  const timer = setInterval(() => void look(), lookEveryMs);
  return () => clearInterval(timer);
}

import { isAnswering } from "./asking.ts";
import { causesOf } from "./readiness.ts";

const lookEveryMs = 1_000;
/** A kernel that checks a large body stands still for some seconds, and is well. */
const patienceMs = 30_000;
/**
 * So often in a row a kernel may say that it has no sandbox while one answers us at once: it finds its way to a new one sooner. Looks count, and no time does: a machine that
 * has much else to do looks later, and its sandboxes take longer for an answer.
 */
const lostLooks = 5;
const atOnceMs = 250;

/**
 * Watches the kernel from outside: restarts a kernel that stands still for long, or has lost its way to its sandboxes.
 *
 * @returns ends it
 */
export function watchKernel(
  kernel: { readonly url: string; restart(): Promise<void> },
  sandboxes: readonly { readonly url: string }[],
): () => void {
  let lost = 0;
  let looking = false;

  async function isLost(): Promise<boolean> {
    const causes = await causesOf(kernel.url, patienceMs);
    if (causes === undefined && !(await isAnswering(`${kernel.url}/livez`, patienceMs))) return true;
    // Another start changes no setting, and mends no log.
    const hasNoSandbox = causes === undefined || causes.some(({ code }) => code === "ISOLATE_LOST");
    const areThere = sandboxes.map(({ url }) => isAnswering(`${url}/healthz`, atOnceMs));
    lost = hasNoSandbox && (await Promise.all(areThere)).includes(true) ? lost + 1 : 0;
    return lost >= lostLooks;
  }

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    if (await isLost()) {
      await kernel.restart();
      lost = 0;
    }
    looking = false;
  }

  const timer = setInterval(() => void look(), lookEveryMs);
  return () => clearInterval(timer);
}

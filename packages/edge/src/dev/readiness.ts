import { setTimeout as delay } from "node:timers/promises";

/** How long a kernel may take from its start to its first served call. */
const startTimeoutMs = 60_000;

/** Why a kernel would not serve a call now. */
export interface Cause {
  /** That a call would get. */
  readonly code: string;
  readonly detail: string;
}

/** Nothing where a kernel would serve a call now, `undefined` where it does not say. */
export async function causesOf(url: string, timeoutMs: number): Promise<readonly Cause[] | undefined> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(timeoutMs) });
    const { causes = [] } = (await response.json()) as { readonly causes?: readonly Cause[] };
    return response.ok || causes.length > 0 ? causes : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Waits until a kernel serves calls.
 *
 * @throws {Error} at once for settings that are not valid: no wait changes them
 */
export async function untilReady(url: string): Promise<void> {
  const deadlineMs = Date.now() + startTimeoutMs;
  for (;;) {
    const causes = await causesOf(url, startTimeoutMs);
    if (causes?.length === 0) return;
    const said = (causes ?? []).map(({ code, detail }) => `${code}: ${detail}`).join("\n") || "It does not answer.";
    if (causes?.some(({ code }) => code === "MISCONFIGURED" || code === "UNAUTHENTICATED"))
      throw new Error(`The kernel cannot serve calls:\n${said}`);
    if (Date.now() > deadlineMs)
      throw new Error(`The kernel did not serve calls within ${startTimeoutMs / 1_000} s:\n${said}`);
    await delay(50);
  }
}

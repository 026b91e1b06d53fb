import { setTimeout as delay } from "node:timers/promises";

/** How long a kernel may take from its start to its first served call. */
const startTimeoutMs = 60_000;

/**
 * @typedef {object} Cause
 * @property {string} code that a call would get
 * @property {string} detail
 */

/**
 * Why a kernel would not serve a call now: nothing where it would, `undefined` where it does not say.
 *
 * @param {string} url of the kernel
 * @param {number} timeoutMs
 * @returns {Promise<readonly Cause[] | undefined>}
 */
export async function causesOf(url, timeoutMs) {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(timeoutMs) });
    const { causes = [] } = await response.json();
    return response.ok || causes.length > 0 ? causes : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Waits until a kernel serves calls.
 *
 * @param {string} url
 * @throws {Error} at once for settings that are not valid: no wait changes them
 */
export async function untilReady(url) {
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const causes = await causesOf(url, startTimeoutMs);
    if (causes?.length === 0) return;
    const said = (causes ?? []).map(({ code, detail }) => `${code}: ${detail}`).join("\n") || "It does not answer.";
    if (causes?.some(({ code }) => code === "MISCONFIGURED"))
      throw new Error(`The kernel cannot serve calls:\n${said}`);
    if (Date.now() > deadline)
      throw new Error(`The kernel did not serve calls within ${startTimeoutMs / 1_000} s:\n${said}`);
    await delay(50);
  }
}

import { createGateway } from "./app/gateway.ts";
import type { Env } from "./env.ts";

const sandboxPatienceMs = 1_000;

/** The Worker that the world talks to. It knows who asks and which kernel that is; the kernels are Durable Objects. */
export const gatewayWorker: ExportedHandler<Env> = createGateway<Env>(
  ({ KEYHOLE_TOKENS, KEYHOLE_ORIGINS }) => ({ tokens: KEYHOLE_TOKENS, origins: KEYHOLE_ORIGINS }),
  {
    forward: (request, { tenant }, env) => env.KERNEL.getByName(tenant).fetch(request),
    healthy: async ({ SANDBOX }) => SANDBOX === undefined || (await answers(SANDBOX)),
  },
);

/** A sandbox that spins does not answer at all. */
async function answers(sandbox: Fetcher): Promise<boolean> {
  try {
    const response = await sandbox.fetch("https://sandbox/healthz", { signal: AbortSignal.timeout(sandboxPatienceMs) });
    return response.ok;
  } catch {
    return false;
  }
}

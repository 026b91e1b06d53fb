import { createGateway, type McpAccess } from "./app/gateway.ts";
import { type ReadinessCause, unwritable } from "./app/readiness.ts";
import { isStorageFault } from "./app/storage-fault.ts";
import { type Env, sandboxesOf } from "./env.ts";

const sandboxPatienceMs = 1_000;
/** A kernel that checks a large body, or opens a long log, is silent for some seconds and is well. */
const kernelPatienceMs = 20_000;

/** The Worker that the world talks to. It knows who asks and which kernel that is; the kernels are Durable Objects. */
export const gatewayWorker: ExportedHandler<Env> = gatewayWith();

export function gatewayWith(access?: McpAccess): ExportedHandler<Env> {
  return createGateway<Env>(
    ({ KEYHOLE_TOKENS, KEYHOLE_ORIGINS }) => ({ tokens: KEYHOLE_TOKENS, origins: KEYHOLE_ORIGINS }),
    {
      forward: (request, { tenant }, env) => env.KERNEL.getByName(tenant).fetch(request),
      causes: async (env, tenant) => {
        const all = [kernelCauses(env.KERNEL.getByName(tenant)), anyCauses(sandboxesOf(env))];
        return (await Promise.all(all)).flat();
      },
    },
    access,
  );
}

interface Answers {
  fetch(address: string, init: { readonly signal: AbortSignal }): Promise<Response>;
}

async function kernelCauses(kernel: Answers): Promise<readonly ReadinessCause[]> {
  try {
    const response = await kernel.fetch("https://kernel/healthz", { signal: AbortSignal.timeout(kernelPatienceMs) });
    const { causes = [] } = await response.json<{ readonly causes?: readonly ReadinessCause[] }>();
    return causes;
  } catch (error) {
    if (isStorageFault(error)) return [unwritable];
    const said = isTimeout(error) ? `did not answer within ${kernelPatienceMs} ms` : "failed";
    return [{ code: "KERNEL_UNAVAILABLE", detail: `The kernel's object ${said}.` }];
  }
}

/** One of several sandboxes is enough, and the first that answers. */
function anyCauses(sandboxes: readonly Answers[]): Promise<readonly ReadinessCause[]> {
  const all = sandboxes.map(sandboxCauses);
  const { promise, resolve } = Promise.withResolvers<readonly ReadinessCause[]>();
  for (const each of all) void each.then((causes) => causes.length === 0 && resolve(causes));
  void Promise.all(all).then(([first = []]) => resolve(first));
  return promise;
}

/** A sandbox that spins does not answer at all. */
async function sandboxCauses(sandbox: Answers): Promise<readonly ReadinessCause[]> {
  const cause = (detail: string): ReadinessCause => ({ code: "ISOLATE_LOST", detail: `The sandbox ${detail}.` });
  try {
    const response = await sandbox.fetch("https://sandbox/healthz", { signal: AbortSignal.timeout(sandboxPatienceMs) });
    await response.body?.cancel();
    return response.ok ? [] : [cause(`answered ${response.status}`)];
  } catch (error) {
    return [cause(isTimeout(error) ? `did not answer within ${sandboxPatienceMs} ms` : "cannot be reached")];
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

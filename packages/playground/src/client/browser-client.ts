import type { JsonValue, Mode } from "@keyhole/kernel";
import { connectKernel, serveFrameContainer } from "@keyhole/worker-host/browser";
import { startPolicy } from "../kernel/default-policy.ts";
import { restorePolicy, savePolicy } from "./saved-policy.ts";
import { loadSearch, type PageSettings } from "./search-settings.ts";
import { ClientFault, heard, type KernelClient } from "./kernel-client.ts";

const caller = "playground";

/** The kernel in a worker of this page. */
export async function openBrowserClient(): Promise<KernelClient> {
  const worker = new Worker(new URL("../kernel.worker.ts", import.meta.url), { type: "module", name: "kernel" });
  worker.postMessage({ settings: { search: loadSearch() } } satisfies PageSettings);
  serveFrameContainer(worker);
  const kernel = connectKernel(worker);
  const tools = await started(kernel.list(), worker);
  const died = whenDead(worker);
  const alive = <T>(work: Promise<T>): Promise<T> => Promise.race([work, died]);
  const restored = await restorePolicy((document) => alive(kernel.setPolicy(document)));
  let policy: JsonValue = restored.policy ?? (startPolicy as unknown as JsonValue);

  return {
    place: "browser",
    ...(restored.warning !== undefined && { warning: restored.warning }),
    tools: () => Promise.resolve(tools),
    call: async ({ tool, input, approve, body, output, ...options }) => ({
      result: await alive(
        kernel.call(tool, input, {
          ...options,
          ...(body && { body: body.stream() }),
          ...(output && { output }),
          approver: approve,
          nestedApprover: approve,
          caller,
        }),
      ),
    }),
    preview: ({ tool, input, ...options }) => alive(kernel.preview(tool, input, { ...options, caller })),
    governance: heard({
      read: async () => ({ policy, policyHash: await alive(kernel.policyHash()), mode: await alive(kernel.mode()) }),
      async setPolicy(document) {
        const applied = await alive(kernel.setPolicy(document));
        if (applied.ok) {
          policy = document;
          savePolicy(document);
        }
        return applied;
      },
      setMode: (mode: Mode, reason) => alive(kernel.setMode(mode, reason)),
      approvals: {
        list: () => alive(kernel.approvals.list()),
        revoke: async (approvalId) =>
          void (await alive(kernel.approvals.revoke(approvalId, "Revoked by a person in the playground"))),
      },
    }),
    close: () => void kernel.close().finally(() => worker.terminate()),
  };
}

function whenDead(worker: Worker): Promise<never> {
  const death = new Promise<never>((_, reject) => {
    worker.addEventListener("error", (event) => reject(startFault(event.message)));
    worker.addEventListener("messageerror", () => reject(startFault("A message could not be read.")));
  });
  death.catch(() => {});
  return death;
}

async function started<T>(work: Promise<T>, worker: Worker): Promise<T> {
  try {
    return await work;
  } catch (error) {
    worker.terminate();
    throw startFault(error instanceof Error ? error.message : String(error));
  }
}

function startFault(reason: string): ClientFault {
  return new ClientFault(
    "start",
    `The kernel in this page does not run. ${reason}`.trim(),
    "Reload the page. If it happens again, the browser's console says more.",
  );
}

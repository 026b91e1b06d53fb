import type { JsonValue, Mode } from "@keyhole/kernel";
import { connectKernel, serveFrameContainer } from "@keyhole/worker-host/browser";
import { wrap } from "comlink";
import { startPolicy } from "../kernel/default-policy.ts";
import type { RecordedRuns } from "../kernel/recorded-runs.ts";
import { toolSummaries } from "../kernel/tool-summaries.ts";
import { noteEarlierPolicy } from "./earlier-policies.ts";
import { type Alive, registrar } from "./registrar.ts";
import { saveMode, savedMode } from "./saved-mode.ts";
import { restorePolicy, savePolicy } from "./saved-policy.ts";
import { loadSearch, type PageSettings } from "./search-settings.ts";
import { ClientFault, type Governance, heard, type KernelClient, type Started } from "./kernel-client.ts";

const caller = "playground";

/** The kernel in a worker of this page. */
export function openBrowserClient(): KernelClient {
  const worker = new Worker(new URL("../kernel.worker.ts", import.meta.url), { type: "module", name: "kernel" });
  const channel = new MessageChannel();
  worker.postMessage({ settings: { search: loadSearch() } } satisfies PageSettings, [channel.port2]);
  const runs = wrap<Pick<RecordedRuns, "take">>(channel.port1);
  serveFrameContainer(worker);
  const kernel = connectKernel(worker);
  const died = whenDead(worker);
  const known: Known = { policy: startPolicy as unknown as JsonValue };
  const starting = start(kernel, worker, died, known);
  starting.catch(() => {});
  /** The client sends no request to a kernel that does not have the person's mode and policy yet. */
  const alive: Alive = async (work) => {
    await starting;
    return Promise.race([work(), died]);
  };

  return {
    place: "browser",
    tools: toolSummaries,
    started: starting,
    async call({ tool, input, approve, body, output, within, onEvent, ...options }) {
      /** Of the call, and of calls within it. */
      const ids = new Set<string>();
      const result = await alive(() =>
        kernel.call(tool, input, {
          ...options,
          ...within,
          ...(body && { body: body.stream() }),
          ...(output && { output }),
          onEvent(event) {
            if (event.callId !== null) ids.add(event.callId);
            onEvent(event);
          },
          approver: approve,
          nestedApprover: approve,
          caller,
        }),
      );
      // A call without a record is a call like any other.
      const recorded = await alive(() => runs.take([...ids.add(result.callId)])).catch(() => undefined);
      return { result, ...(recorded && { recorded }) };
    },
    preview: ({ tool, input, ...options }) => alive(() => kernel.preview(tool, input, { ...options, caller })),
    register: registrar(kernel, alive),
    watchTools: (listener) =>
      kernel.onToolsChange(() => {
        alive(() => kernel.list()).then(listener, () => {});
      }),
    governance: governanceOf(kernel, alive, known),
    close: () => void kernel.close().finally(() => worker.terminate()),
  };
}

/** The person's mode and policy hold before the first call. */
async function start(kernel: BrowserKernel, worker: Worker, died: Promise<never>, known: Known): Promise<Started> {
  const tools = await started(Promise.race([kernel.list(), died]), worker);
  const mode = savedMode();
  if (mode !== "NORMAL") await Promise.race([kernel.setMode(mode, "Set before this page was loaded"), died]);
  const restored = await restorePolicy((document) => Promise.race([kernel.setPolicy(document), died]));
  known.policy = restored.policy ?? known.policy;
  return { tools, warning: restored.warning };
}

type BrowserKernel = ReturnType<typeof connectKernel>;

/** The policy in force, as this page set it. */
interface Known {
  policy: JsonValue;
}

function governanceOf(kernel: BrowserKernel, alive: Alive, known: Known): Governance {
  return heard({
    read: async () => ({
      policyHash: await alive(() => kernel.policyHash()),
      mode: await alive(() => kernel.mode()),
      policy: known.policy,
    }),
    async setPolicy(document) {
      const applied = await alive(() => kernel.setPolicy(document));
      if (applied.ok) {
        noteEarlierPolicy(known.policy);
        known.policy = document;
        savePolicy(document);
      }
      return applied;
    },
    async setMode(mode: Mode, reason) {
      await alive(() => kernel.setMode(mode, reason));
      saveMode(mode);
    },
    approvals: {
      list: () => alive(() => kernel.approvals.list()),
      revoke: async (approvalId) =>
        void (await alive(() => kernel.approvals.revoke(approvalId, "Revoked by a person in the playground"))),
    },
  });
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

import type { CallOptions, CallResult, Kernel, ResumeOptions, ToolPackage } from "@keyhole/kernel";
import * as Comlink from "comlink";
import type { CalledTool } from "../called-tool.ts";
import { fromCloneSafe } from "./clone-safe.ts";
import { reportStart } from "./kernel-start.ts";
import { multiplexedEndpoint, ownPage } from "./multiplexed-endpoint.ts";
import { type CallListeners, KERNEL_LANE, type KernelApi, type Releasable, type SentCall } from "./remote-api.ts";
import { remoteListeners } from "./remote-listeners.ts";
import { arrivedFields } from "./remote-options.ts";

/**
 * Serves a kernel to the page that started this worker. Call it at once, with the promise: calls that arrive before the kernel is ready wait for it.
 *
 * Trusted pairs only: never on a port that a tool's code can reach.
 *
 * @example
 * // kernel.worker.ts
 * exposeKernel(boot());
 * async function boot() {
 *   return createKernel({ host: await browserHost({ container: remoteFrameContainer() }), policy });
 * }
 */
export function exposeKernel(kernel: Kernel | Promise<Kernel>, page: Comlink.Endpoint = ownPage()): void {
  reportStart(kernel, page);
  const api: KernelApi = { ...servedCalls(kernel), ...servedLog(kernel), ...servedMembers(kernel) };
  Comlink.expose(api, multiplexedEndpoint(page, KERNEL_LANE));
}

function servedCalls(kernel: Kernel | Promise<Kernel>): Pick<KernelApi, "call" | "resume" | "cancel"> {
  const running = new Map<string, AbortController>();
  const take = async (
    { token, options, wanted }: SentCall,
    listeners: Releasable<CallListeners>,
    run: (options: CallOptions & ResumeOptions) => Promise<CallResult>,
  ): Promise<CallResult> => {
    const controller = new AbortController();
    running.set(token, controller);
    const heard: Promise<void>[] = [];
    try {
      const { signal } = controller;
      const given = arrivedFields(options);
      // As foreign as they are there: the kernel checks them.
      return await run((given && { signal, ...remoteListeners(wanted, listeners, heard), ...given }) as CallOptions);
    } finally {
      running.delete(token);
      await Promise.allSettled(heard); // The result comes last, whatever way the listeners' messages took.
      listeners[Comlink.releaseProxy]();
    }
  };
  return {
    call: (tool, input, sent, listeners) =>
      take(sent, listeners, async (options) =>
        (await kernel).call(toolOf(tool) as string, fromCloneSafe(input), options),
      ),
    resume: (bytes, sent, listeners) =>
      take(sent, listeners, async (options) => (await kernel).resume(fromCloneSafe(bytes) as Uint8Array, options)),
    cancel: (token) => running.get(token)?.abort(),
  };
}

function servedLog(
  kernel: Kernel | Promise<Kernel>,
): Pick<KernelApi, "isLogWritable" | "readLog" | "subscribe" | "watchTools" | "unsubscribe"> {
  const subscriptions = new Map<string, () => void>();
  const keep = (token: string, stop: () => void, listener: Comlink.ProxyMethods): void =>
    void subscriptions.set(token, () => {
      stop();
      listener[Comlink.releaseProxy]();
    });
  return {
    isLogWritable: async () => (await kernel).audit.writable,
    readLog: async (...args) => (await kernel).audit.read(...args),
    async subscribe(token, listener) {
      keep(
        token,
        (await kernel).audit.subscribe((event) => void listener(event).catch(() => undefined)),
        listener,
      );
    },
    async watchTools(token, listener) {
      keep(
        token,
        (await kernel).onToolsChange(() => void listener().catch(() => undefined)),
        listener,
      );
    },
    async unsubscribe(token) {
      await kernel; // It may come before the subscription is there.
      subscriptions.get(token)?.();
      subscriptions.delete(token);
    },
  };
}

type Served = keyof ReturnType<typeof servedCalls> | keyof ReturnType<typeof servedLog>;

/** Members whose arguments and answers are data. */
function servedMembers(kernel: Kernel | Promise<Kernel>): Omit<KernelApi, Served> {
  return {
    suspend: async (...args) => (await kernel).suspend(...args),
    preview: async (tool, input, options) =>
      (await kernel).preview(toolOf(tool) as string, fromCloneSafe(input), arrivedFields(options) as CallOptions),
    register: async (pkg) => (await kernel).register(arrivedFields(pkg) as unknown as ToolPackage),
    unregister: async (...args) => (await kernel).unregister(...args),
    list: async (...args) => (await kernel).list(...args),
    kernelHealth: async () => (await kernel).health(),
    health: async (tool, options) => (await kernel).health(toolOf(tool), arrivedFields(options) as CallOptions),
    verifyPure: async (tool, inputs, runs) => (await kernel).verifyPure(toolOf(tool), inputs.map(fromCloneSafe), runs),
    mode: async () => (await kernel).mode,
    setMode: async (...args) => (await kernel).setMode(...args),
    policyHash: async () => (await kernel).policyHash,
    setPolicy: async (document) => (await kernel).setPolicy(fromCloneSafe(document)),
    listApprovals: async () => (await kernel).approvals.list(),
    revokeApproval: async (...args) => (await kernel).approvals.revoke(...args),
    listRevocations: async () => (await kernel).grants.list(),
    revokeGrants: async (match, reason) => (await kernel).grants.revoke(fromCloneSafe(match) as object, reason),
    restoreGrants: async (...args) => (await kernel).grants.restore(...args),
    close: async () => (await kernel).close(),
  };
}

/** A package's code does not travel: its name and version are what the kernel reads of it. */
function toolOf({ name, version }: CalledTool): string | ToolPackage {
  return version === undefined ? name : ({ manifest: { name, version } } as ToolPackage);
}

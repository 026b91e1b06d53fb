import { knownOptions, type OptionNames } from "@keyhole/kernel/foreign";
import type { Approver, AuditEvent, CallResult, KernelHealth, SetupError, ToolHealth } from "@keyhole/kernel";
import * as Comlink from "comlink";
import { calledTool } from "../called-tool.ts";
import { cloneSafe } from "./clone-safe.ts";
import { type KernelClient, localOnly } from "./kernel-client.ts";
import { KERNEL_START_MS, kernelStarted, KernelUnavailable, type KernelUse, kernelUse } from "./kernel-start.ts";
import { multiplexedEndpoint } from "./multiplexed-endpoint.ts";
import { type CallListeners, KERNEL_LANE, type KernelApi, type SentCall } from "./remote-api.ts";
import { PageListeners } from "./remote-listeners.ts";
import { type Kept, type SentFields, sentFields, takeOptions } from "./remote-options.ts";

export interface ConnectOptions {
  /** The kernel's approver, from this page: answers for every call, and every call within one, that has no approver of its own. */
  readonly approver?: Approver;
  /** Milliseconds until the worker's kernel has to be ready. Default 60,000. */
  readonly startTimeoutMs?: number;
}

export const connectOptions: OptionNames<ConnectOptions> = { approver: true, startTimeoutMs: 1 };

/** The page's way to the worker. */
interface Line {
  readonly remote: Comlink.Remote<KernelApi>;
  readonly use: KernelUse;
  /** An id that no call and no subscription of any client of the worker has. */
  readonly nextToken: () => string;
}

/**
 * The page's end of {@link exposeKernel}. Call it in the task that created the worker: later the browser may have reported already why the worker cannot start.
 *
 * A client whose kernel did not start stays without one: terminate the worker, and connect to a new one.
 */
export function connectKernel(worker: Comlink.Endpoint, options: ConnectOptions = {}): KernelClient {
  const { approver, startTimeoutMs = KERNEL_START_MS } = knownOptions(options, connectOptions, "connectKernel");
  const ready = kernelStarted(worker, startTimeoutMs);
  ready.catch(() => {}); // Every use reports it.
  // A worker can have several clients: a count of each alone would name the calls of the others.
  const client = crypto.getRandomValues(new Uint32Array(4)).join("-");
  let tokens = 0;
  const line: Line = {
    remote: Comlink.wrap<KernelApi>(multiplexedEndpoint(worker, KERNEL_LANE)),
    use: kernelUse(worker, ready),
    nextToken: () => `${client}:${tokens++}`,
  };
  return {
    ready: () => ready,
    ...callsOver(line, approver),
    ...dataOver(line),
    audit: auditOver(line),
    close: () =>
      line
        .use(() => line.remote.close())
        .catch((error: unknown) => {
          // Nothing is open where no kernel started.
          if (!(error instanceof KernelUnavailable)) throw error;
        }),
  };
}

/** Calls run in the worker; what their options listen with stays in the page. */
function callsOver(
  { remote, use, nextToken }: Line,
  approver: Approver | undefined,
): Pick<KernelClient, "call" | "resume"> {
  const run = (
    kept: Kept,
    options: SentFields,
    send: (sent: SentCall, listeners: CallListeners & Comlink.ProxyMarked) => Promise<CallResult>,
  ): Promise<CallResult> => {
    const token = nextToken();
    const cancel = (): void => void use(() => remote.cancel(token)).catch(() => {});
    const page = new PageListeners({ ...(approver && { approver, nestedApprover: approver }), ...kept }, cancel);
    return page.settle(use(() => send({ token, options, wanted: page.wanted }, Comlink.proxy(page.listeners))));
  };
  const call = async (foreign: unknown, input: unknown, options: unknown = {}): Promise<CallResult> => {
    const { kept, sent } = takeOptions(options);
    const tool = calledTool(foreign);
    const crossed = cloneSafe(input);
    return run(kept, sent, (call, listeners) => remote.call(tool, crossed, call, listeners));
  };
  return {
    call,
    async resume(bytes, options = {}) {
      const { kept, sent } = takeOptions(options);
      const { output: _, body: __, ...listening } = kept; // A resumed call has neither.
      const crossed = cloneSafe(bytes);
      return run(listening, sent, (call, listeners) => remote.resume(crossed, call, listeners));
    },
  };
}

function healthOver({ remote, use }: Line): KernelClient["health"] {
  function health(): Promise<KernelHealth>;
  function health(tool: unknown, options?: unknown): Promise<ToolHealth>;
  async function health(foreign?: unknown, options: unknown = {}): Promise<unknown> {
    if (foreign === undefined) return use(() => remote.kernelHealth());
    const tool = calledTool(foreign);
    const { sent } = takeOptions(options);
    return use(() => remote.health(tool, sent));
  }
  return health;
}

type Data = Omit<KernelClient, "ready" | "call" | "resume" | "audit" | "close">;

/** Members whose arguments and answers are data. */
function dataOver(line: Line): Data {
  const { remote, use } = line;
  return {
    suspend: (...args) => use(() => remote.suspend(...args)),
    async preview(foreign: unknown, input: unknown, options: unknown = {}) {
      const tool = calledTool(foreign);
      const crossed = cloneSafe(input);
      const { sent } = takeOptions(options);
      return use(() => remote.preview(tool, crossed, sent));
    },
    async register(pkg) {
      const fields = sentFields(pkg);
      return use(() => remote.register(fields));
    },
    registerTrusted: async () => refusal(localOnly.registerTrusted),
    unregister: (...args) => use(() => remote.unregister(...args)),
    list: (...args) => use(() => remote.list(...args)),
    onToolsChange: (listener) => subscription<[]>(line, listener, (token, heard) => remote.watchTools(token, heard)),
    health: healthOver(line),
    async verifyPure(foreign, inputs, runs) {
      const tool = calledTool(foreign);
      const crossed = inputs.map(cloneSafe);
      return use(() => remote.verifyPure(tool, crossed, runs));
    },
    mode: () => use(() => remote.mode()),
    setMode: (...args) => use(() => remote.setMode(...args)),
    policyHash: () => use(() => remote.policyHash()),
    async setPolicy(document) {
      const crossed = cloneSafe(document);
      return use(() => remote.setPolicy(crossed));
    },
    approvals: {
      list: () => use(() => remote.listApprovals()),
      revoke: (...args) => use(() => remote.revokeApproval(...args)),
    },
    grants: {
      list: () => use(() => remote.listRevocations()),
      async revoke(match, reason) {
        const crossed = cloneSafe(match);
        return use(() => remote.revokeGrants(crossed, reason));
      },
      restore: (...args) => use(() => remote.restoreGrants(...args)),
    },
  };
}

function refusal(reason: string): { readonly ok: false; readonly error: SetupError } {
  const hint = "Call it in the worker, on the kernel that exposeKernel takes.";
  return { ok: false, error: { code: "UNTRUSTED_TOOL", path: "", message: reason, hint } };
}

function auditOver(line: Line): KernelClient["audit"] {
  const { remote, use } = line;
  return {
    writable: () => use(() => remote.isLogWritable()),
    read: (...args) => use(() => remote.readLog(...args)),
    subscribe: (listener) =>
      subscription<[AuditEvent]>(line, listener, (token, heard) => remote.subscribe(token, heard)),
  };
}

/** Returns the way to stop, after which the listener hears nothing more. */
function subscription<Args extends unknown[]>(
  { remote, use, nextToken }: Line,
  listener: (...args: Args) => void,
  send: (token: string, heard: ((...args: Args) => void) & Comlink.ProxyMarked) => Promise<void>,
): () => void {
  const token = nextToken();
  let open = true;
  const heard = (...args: Args): void => {
    if (open) listener(...args);
  };
  use(() => send(token, Comlink.proxy(heard))).catch(() => {});
  return () => {
    open = false;
    use(() => remote.unsubscribe(token)).catch(() => {});
  };
}

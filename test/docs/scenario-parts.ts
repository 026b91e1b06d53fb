import {
  blake3Hash,
  type AuditSink,
  type CallOptions,
  type CallResult,
  type IsolateHost,
  type IsolateOutcome,
  type Kernel,
  type KernelOptions,
  manifestOf,
  packageHash,
  type Tool,
} from "@keyhole/kernel";
import { callSuspender } from "@keyhole/kernel/suspend";
import { type FileStore, filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { openPolicy, toolOf } from "../support/kernel.ts";
import type { AnyTool } from "../support/registered.ts";
import type { Scenario } from "./scenario.ts";

/* Tools, hosts and sinks that the scenarios of the error codes share. */

export function call(kernel: Kernel, options: CallOptions = {}): Promise<CallResult> {
  return kernel.call(kernel.list()[0]?.manifest.name ?? "echo", {}, options);
}

export const waits = (more: Record<string, unknown> = {}): Tool<never, unknown> =>
  toolOf(() => new Promise(() => {}), more);
/** So many calls at once of a tool that runs one of them: the first end. */
export const crowded = (calls: number, options: CallOptions = {}): Scenario => ({
  tools: [waits({ bounds: { concurrency: 1 } })],
  async run(kernel, clock) {
    const first = Promise.race(Array.from({ length: calls }, () => call(kernel, options)));
    await clock.advance(30_000);
    return first;
  },
});
export const withSuspender = (): KernelOptions => ({ suspender: callSuspender({ key: new Uint8Array(32) }) });
export const elevated = toolOf(() => 1, { tier: 3 });

const reads = {
  effects: ["fs.read"],
  determinism: "external",
  capabilities: [{ kind: "fs.read", paths: ["**"] }],
};
export const readsFile = (path: string): Tool<never, unknown> =>
  toolOf(
    async (_: never, { files }: { files: { read(path: string): Promise<Uint8Array> } }) =>
      (await files.read(path)).length,
    reads,
  );
export const withFiles: KernelOptions = {
  brokers: [filesBroker(memoryStore())],
  policy: { ...openPolicy, grants: [{ tool: "subject", capability: { kind: "fs.read", paths: ["notes/**"] } }] },
};

export function storeWith(path: string, byteLength: number): FileStore {
  const store = memoryStore();
  void store.write(path, new Uint8Array(byteLength));
  return store;
}

export const brokenStore: FileStore = { ...memoryStore(), read: async () => ({ ok: false, fault: "broken" }) };

/** A package whose code is never looked at: the host below answers for it. */
export function packageOf(more: Record<string, unknown> = {}): AnyTool {
  const manifest = manifestOf(
    toolOf(() => 1, more),
    "module",
  );
  return { manifest, code: "export default {};", hash: packageHash(manifest, "export default {};", blake3Hash) ?? "" };
}

/** A host that answers each call as it is told, for ends that no host on this machine can be brought to at will. */
function hostThat(answers: IsolateOutcome | (() => never)): IsolateHost {
  return {
    name: "scripted",
    sources: ["module"],
    enforces: [],
    preempts: true,
    brokers: [],
    open: async () =>
      typeof answers === "function" ? answers() : { call: async () => answers, terminate: () => {}, alive: true },
    close: async () => {},
  };
}

export const scripted = (answers: IsolateOutcome | (() => never)): Scenario => ({
  options: { host: hostThat(answers) },
  tools: [packageOf()],
});

/** Takes so many batches and no more. */
export function brokenSink(batches: number): AuditSink {
  let left = batches;
  return {
    append() {
      if (left === 0) throw new Error("disk full");
      left--;
    },
    read: () => [],
    open: () => ({ last: undefined, cutBytes: 0, damage: null }),
  };
}

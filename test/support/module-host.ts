import {
  blake3Hash,
  type CallPort,
  type IsolateCall,
  type IsolateHost,
  type IsolateOutcome,
  manifestOf,
  packageHash,
  type Tool,
  type ToolPackage,
} from "@keyhole/kernel";
import { runCall } from "@keyhole/kernel/guest";

/** A package of a tool. Its code says nothing: {@link moduleHost} has the tool itself. */
export function packed(tool: unknown, code = "export default {};"): ToolPackage {
  const manifest = manifestOf(tool as Tool, "module");
  return { manifest, code, hash: packageHash(manifest, code, blake3Hash) ?? "" };
}

/** A host of which nothing matters but how its isolates come about. */
export function hostOpening(name: string, open: IsolateHost["open"], more: Partial<IsolateHost> = {}): IsolateHost {
  const close = async (): Promise<void> => {};
  return { name, sources: ["module"], enforces: [], preempts: true, brokers: [], open, close, ...more };
}

export interface ModuleHost extends IsolateHost {
  readonly opened: readonly { readonly tool: string; readonly terminated: string | undefined }[];
}

/** Runs packages as the tools that they were made of, in this realm; an isolate that is terminated ends its calls as lost, as real ones do. */
export function moduleHost(...tools: readonly unknown[]): ModuleHost {
  const byName = new Map(tools.map((tool) => [(tool as Tool).definition.name, tool]));
  const opened: { tool: string; terminated: string | undefined }[] = [];
  const host = hostOpening("modules", async ({ id, manifest }) => {
    const record: (typeof opened)[number] = { tool: id, terminated: undefined };
    opened.push(record);
    const waiting = new Set<(outcome: IsolateOutcome) => void>();
    return {
      get alive() {
        return record.terminated === undefined;
      },
      call: (call: IsolateCall, port: CallPort) =>
        new Promise((resolve) => {
          waiting.add(resolve);
          void runCall(byName.get(manifest.name), call, port).then(resolve);
        }),
      terminate: (reason) => {
        record.terminated ??= reason;
        for (const settle of waiting) settle({ kind: "lost", reason });
      },
    };
  });
  return { ...host, opened };
}

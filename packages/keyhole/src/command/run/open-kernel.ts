import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createFullKernel, type Kernel, type ToolPackage } from "@keyhole/kernel";
import { recordingHost, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { type CommandIo, type CommandOptions, Unusable } from "../io.ts";
import { type ChosenPolicy, choosePolicy } from "../policy/read-policy.ts";
import { terminalApprover } from "./approver.ts";

export interface OpenKernel {
  readonly kernel: Kernel;
  /** The one that it was opened with. */
  readonly policy: ChosenPolicy;
  /** Closes the kernel, and writes the run where it was recorded. */
  close(): Promise<void>;
}

/**
 * A kernel on this machine: each tool in an interpreter of its own, files in memory unless a folder is named, and the person at the terminal as approver.
 *
 * @throws {Unusable}
 */
export async function openKernel(
  packages: readonly ToolPackage[],
  { policy: typedPolicy, files, log, record }: CommandOptions,
  io: CommandIo,
): Promise<OpenKernel> {
  const { nodeHost, fileSink } = await nodeParts();
  const policy = await choosePolicy(typedPolicy, io);
  if (policy.file === undefined) io.note("no policy.json here: posture standard, without grants\n");
  const entries: RunEntry[] = [];
  const own = nodeHost(typeof files === "string" ? { files: resolve(io.folder, files) } : {});
  const host = typeof record === "string" ? recordingHost(own, (entry) => entries.push(entry)) : own;
  const sink = typeof log === "string" ? fileSink(resolve(io.folder, log)) : undefined;
  const approver = terminalApprover(io);
  const kernel = await createFullKernel({
    host,
    policy: policy.document,
    ...(sink && { sink }),
    ...(approver && { approver }),
  });
  for (const pkg of packages) {
    const registered = kernel.register(pkg);
    if (!registered.ok) throw new Unusable(`${registered.error.message} ${registered.error.hint}`.trimEnd());
  }
  return {
    kernel,
    policy,
    async close() {
      await kernel.close();
      await sink?.close();
      if (typeof record === "string") await writeFile(resolve(io.folder, record), writeRun({ entries }));
    },
  };
}

/** @throws {Unusable} on a Node that is too old for isolates */
async function nodeParts(): Promise<typeof import("@keyhole/worker-host/node")> {
  try {
    return await import("@keyhole/worker-host/node");
  } catch (error) {
    throw new Unusable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

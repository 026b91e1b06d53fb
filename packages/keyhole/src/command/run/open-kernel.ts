import { resolve } from "node:path";
import type { Kernel, ToolPackage } from "@keyhole/kernel";
import { recordingHost, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { type CommandIo, type CommandOptions, Unusable, visible } from "../io.ts";
import type { ConfigFile, ConfiguredOptions, InPlaceOf } from "@keyhole/worker-host/node/config";
import type { ChosenConfig } from "../config.ts";
import { type ChosenPolicy, choosePolicy } from "../policy/read-policy.ts";
import { writeWhole } from "../whole-file.ts";
import { terminalApprover } from "@keyhole/worker-host/node/terminal";
import { closeInOrder, loggedKernel } from "./logged-kernel.ts";

export interface OpenKernel {
  readonly kernel: Kernel;
  /** The policy at the start. */
  readonly policy: ChosenPolicy;
  /** Closes the kernel, and writes the run where it was recorded. */
  close(): Promise<void>;
}

/**
 * A kernel on this machine: each tool in an interpreter of its own, files in memory unless a folder is named, and the person at the terminal as approver.
 *
 * @param packages `undefined`: the caller registers the tools, those of the configuration too
 * @param takes `limits`: nothing else of the configuration, neither its log nor its tools
 * @throws {Unusable}
 */
export async function openKernel(
  packages: readonly ToolPackage[] | undefined,
  { policy: typedPolicy, files, log, record }: CommandOptions,
  io: CommandIo,
  chosen: ChosenConfig,
  takes: "all" | "limits" = "all",
): Promise<OpenKernel> {
  const { nodeHost, fileSink } = await nodeParts();
  const policy = await choosePolicy(typedPolicy, io, chosen);
  const config = takes === "all" ? chosen.found : undefined;
  if (policy.file === undefined) io.note("no policy.json here: posture standard, without grants\n");
  const entries: RunEntry[] = [];
  const inPlace = {
    files: typeof files === "string" ? resolve(io.folder, files) : undefined,
    log: typeof log === "string" ? resolve(io.folder, log) : undefined,
  };
  const {
    host: own,
    sink,
    ...configured
  } = config
    ? (await import("@keyhole/worker-host/node/config")).configuredOptions(config, inPlace)
    : plainOptions(inPlace, { nodeHost, fileSink });
  const host = typeof record === "string" ? recordingHost(own, (entry) => entries.push(entry)) : own;
  const approver = io.ask && terminalApprover({ ask: io.ask });
  const options = { ...configured, host, policy: policy.document, ...(approver && { approver }) };
  const kernel = await loggedKernel(options, sink);
  let leave: (() => Promise<void>) | undefined;
  const end = (): Promise<void> =>
    closeInOrder(
      () => leave?.(),
      () => kernel.close(),
      () => sink?.close(),
    );
  try {
    if (packages) await registerAll(kernel, packages, config);
    leave = config && (await joinBus(kernel, config, packages === undefined, io));
  } catch (error) {
    await end();
    throw error;
  }
  return {
    kernel,
    policy,
    async close() {
      await end();
      if (typeof record === "string") await writeWhole(resolve(io.folder, record), writeRun({ entries }));
    },
  };
}

/** Without a configuration. */
function plainOptions(
  { files, log }: InPlaceOf,
  { nodeHost, fileSink }: Pick<NodeParts, "nodeHost" | "fileSink">,
): ConfiguredOptions {
  return {
    host: nodeHost(files === undefined ? {} : { files }),
    ...(log !== undefined && { sink: fileSink(log) }),
  };
}

/** @throws {Unusable} for a tool that the kernel refuses */
async function registerAll(
  kernel: Kernel,
  packages: readonly ToolPackage[],
  config: ConfigFile | undefined,
): Promise<void> {
  if (config) {
    const { registerConfigured } = await import("@keyhole/worker-host/node/config");
    try {
      return registerConfigured(kernel, config, packages);
    } catch (error) {
      if (error instanceof TypeError) throw new Unusable(visible(error.message), { cause: error });
      throw error;
    }
  }
  for (const pkg of packages) {
    const registered = kernel.register(pkg);
    if (!registered.ok) throw new Unusable(`${registered.error.message} ${registered.error.hint}`.trimEnd());
  }
}

/** A command that stays offers tools; one call offers none. @throws {Unusable} with file and line */
async function joinBus(
  kernel: Kernel,
  config: ConfigFile,
  serve: boolean,
  io: CommandIo,
): Promise<() => Promise<void>> {
  const { joinConfiguredBus } = await import("@keyhole/worker-host/node/config");
  try {
    const onError = ({ message }: Error): void => io.note(`bus: ${visible(message)}\n`);
    return await joinConfiguredBus(kernel, config, { serve, onError });
  } catch (error) {
    if (error instanceof TypeError) throw new Unusable(visible(error.message), { cause: error });
    throw error;
  }
}

type NodeParts = typeof import("@keyhole/worker-host/node");

/** @throws {Unusable} on a Node that is too old for isolates */
async function nodeParts(): Promise<NodeParts> {
  try {
    return await import("@keyhole/worker-host/node");
  } catch (error) {
    throw new Unusable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

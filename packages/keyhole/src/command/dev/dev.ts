import { dirname, resolve } from "node:path";
import { type ChosenConfig, chooseConfig } from "../config.ts";
import { type CommandIo, type CommandOptions, type CommandResult, Unusable, visible } from "../io.ts";
import { optionOf } from "../options.ts";
import { openKernel, type OpenKernel } from "../run/open-kernel.ts";
import { defaultFolder, openTools } from "../tools/find-tool.ts";
import { toolFolder } from "../tools/tool-files.ts";
import { type Round, watchRounds } from "../watch.ts";
import { takeCalls } from "./calls.ts";
import { RegisteredTools } from "./registered-tools.ts";
import { WatchedConfig } from "./watched-config.ts";
import { WatchedPolicy } from "./watched-policy.ts";

/** Takes calls of tools while a person writes them: a change of a tool or of the policy holds from the next call on. */
export async function dev(typed: readonly string[], options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  if (options["edge"] === true) return (await import("./edge/edge.ts")).devEdge(typed, options, io);
  if (options["builtIn"] === true) throw new Unusable("--built-in is for --edge.");
  const chosen = await chooseConfig(options, io);
  const opened = await openKernel(undefined, options, io, chosen);
  const ended = new AbortController();
  const ownIo: CommandIo = { ...io, signal: AbortSignal.any([io.signal, ended.signal]) };
  const first = Promise.withResolvers<void>();
  const watched = chosen.found && new WatchedConfig(opened.kernel, chosen, chosen.found, options, ownIo);
  const paths = typed.length > 0 || watched ? typed : [defaultFolder];
  const work = roundOf(paths, options, opened, ownIo, { chosen, watched });
  const watching = watchRounds(work, ownIo, () => first.resolve());
  try {
    await Promise.race([first.promise, watching]);
    const caller = optionOf(options, "caller") ?? "terminal";
    await (io.ask === undefined ? watching : Promise.race([takeCalls(opened.kernel, caller, ownIo), watching]));
  } finally {
    ended.abort();
    await watching.catch(() => {}); // It was thrown above.
    await opened.close();
  }
  return { exitCode: io.signal.aborted ? 130 : 0, output: "" };
}

function roundOf(
  paths: readonly string[],
  options: CommandOptions,
  { kernel, policy: before }: OpenKernel,
  io: CommandIo,
  { chosen, watched: config }: { readonly chosen: ChosenConfig; readonly watched: WatchedConfig | undefined },
): () => Promise<Round> {
  const policy = new WatchedPolicy(kernel, before, optionOf(options, "policy"), io, () => config?.chosen ?? chosen);
  const registered = new RegisteredTools(kernel);
  const log = optionOf(options, "log");
  const ignored = new Set(log === undefined ? [] : [resolve(io.folder, log)]);
  return async () => {
    await config?.reload();
    const policyLine = await policy.update();
    const [typed, configured] = [await openTools(paths, io), await config?.tools()];
    const lines = await registered.update({
      tools: [...typed.tools, ...(configured?.tools ?? [])],
      faults: [...typed.faults, ...(configured?.faults ?? [])],
    });
    for (const [subject, line] of (await config?.updatePipelines()) ?? []) lines.set(subject, line);
    if (policyLine !== undefined) lines.set("policy", visible(policyLine));
    return {
      folders: new Set([
        policy.folder,
        ...(config ? [dirname(config.path)] : []),
        ...paths.map((path) => toolFolder(path, io.folder)),
        ...typed.folders,
        ...(configured?.folders ?? []),
      ]),
      lines,
      ignored,
    };
  };
}

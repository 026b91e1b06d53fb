import { dirname, resolve } from "node:path";
import { type CommandIo, type CommandOptions, type CommandResult, visible } from "../io.ts";
import { optionOf } from "../options.ts";
import { openKernel, type OpenKernel } from "../run/open-kernel.ts";
import { defaultFolder, openTools } from "../tools/find-tool.ts";
import { type Round, watchRounds } from "../watch.ts";
import { takeCalls } from "./calls.ts";
import { RegisteredTools } from "./registered-tools.ts";
import { WatchedPolicy } from "./watched-policy.ts";

/** Takes calls of tools while a person writes them: a change of a tool or of the policy holds from the next call on. */
export async function dev(typed: readonly string[], options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const opened = await openKernel([], options, io);
  const ended = new AbortController();
  const ownIo: CommandIo = { ...io, signal: AbortSignal.any([io.signal, ended.signal]) };
  const first = Promise.withResolvers<void>();
  const work = roundOf(typed.length > 0 ? typed : [defaultFolder], options, opened, ownIo);
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
  { kernel, policy: chosen }: OpenKernel,
  io: CommandIo,
): () => Promise<Round> {
  const policy = new WatchedPolicy(kernel, chosen, optionOf(options, "policy"), io);
  const registered = new RegisteredTools(kernel);
  const log = optionOf(options, "log");
  const ignored = new Set(log === undefined ? [] : [resolve(io.folder, log)]);
  return async () => {
    const policyLine = await policy.update();
    const loaded = await openTools(paths, io);
    const lines = await registered.update(loaded);
    if (policyLine !== undefined) lines.set("policy", visible(policyLine));
    const files = loaded.tools.flatMap((tool) => tool.files);
    return {
      folders: new Set([policy.folder, ...paths.map(folderOf), ...files.map((file) => dirname(file))]),
      lines,
      ignored,
    };
  };

  function folderOf(path: string): string {
    const absolute = resolve(io.folder, path);
    return /\.[^./\\]+$/.test(absolute) ? dirname(absolute) : absolute;
  }
}

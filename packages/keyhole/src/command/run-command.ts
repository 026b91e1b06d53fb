import { Command, CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { type CommandIo, type CommandResult, Unusable, visible } from "./io.ts";
import { narrowed } from "./narrow.ts";
import { optionOf, refuseEmpty } from "./options.ts";
import { addApprove } from "./verbs/approve.ts";
import { addDev } from "./verbs/dev.ts";
import { addImport } from "./verbs/import.ts";
import { addInit } from "./verbs/init.ts";
import { addDoctor, addLog, addReplay } from "./verbs/log.ts";
import { addMeter } from "./verbs/meter.ts";
import { addPack } from "./verbs/pack.ts";
import { addPolicy } from "./verbs/policy.ts";
import { addList, addRun } from "./verbs/run.ts";
import { addServe } from "./verbs/serve.ts";
import type { Act } from "./verbs/verb.ts";
import { addVerify } from "./verbs/verify.ts";
import { addWrap } from "./verbs/wrap.ts";

export type { CommandFiles, CommandIo, CommandResult } from "./io.ts";

const verbs = [
  addInit,
  addDev,
  addPack,
  addRun,
  addServe,
  addList,
  addPolicy,
  addVerify,
  addLog,
  addReplay,
  addApprove,
  addMeter,
  addDoctor,
  addWrap,
  addImport,
];

/** The command line, without the process around it. Never rejects for what a person typed, or a file holds. */
export async function runCommand(typed: readonly string[], io: CommandIo): Promise<CommandResult> {
  let result: CommandResult | undefined;
  const said = { output: "", errorOutput: "" };
  let root: string | undefined;
  const act: Act = async (work) => {
    result = await work({ ...interruptible(io), root });
  };
  const program = programOf(said, io.columns);
  program.hook("preAction", (_, action) => {
    refuseEmpty(action.opts());
    root = optionOf(action.opts(), "root");
  });
  for (const add of verbs) add(program, act);
  try {
    if (typed.length === 0) program.outputHelp();
    else await program.parseAsync([...typed], { from: "user" });
    return result ?? { exitCode: typed.length === 0 ? 2 : 0, ...said };
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, ...said };
    if (io.signal.aborted) return { exitCode: 130, output: "", errorOutput: "Interrupted.\n" };
    if (error instanceof Unusable) return { exitCode: 2, output: "", errorOutput: `${error.message}\n` };
    throw error;
  }
}

/** At an interrupt no verb reads on: a log can be larger than a person's patience. */
function interruptible(io: CommandIo): CommandIo {
  const { files, signal } = io;
  async function* chunks(path: string): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of files.chunks(path)) {
      signal.throwIfAborted();
      yield chunk;
    }
  }
  return { ...io, files: { ...files, chunks } };
}

function programOf(said: { output: string; errorOutput: string }, columns: number): Command {
  const program = new Command("keyhole")
    .description("Packs, runs and checks tools of AI agents, and the policies, logs and proofs of their calls.")
    .version(manifest.version)
    .exitOverride()
    .configureHelp({ minWidthToWrap: 10 })
    .showHelpAfterError("`keyhole --help` has them all.")
    .configureOutput({
      writeOut: (text) => void (said.output += narrowed(text, columns)),
      writeErr: (text) => void (said.errorOutput += text),
      outputError: (text, write) =>
        write(
          `${text
            .replace(/^error: /, "")
            .trimEnd()
            .split("\n")
            .map(visible)
            .join("\n")}\n`,
        ),
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
    });
  return program;
}

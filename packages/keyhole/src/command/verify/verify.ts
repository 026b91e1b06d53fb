import { type CommandFiles, type CommandOptions, type CommandResult, Unusable } from "../io.ts";
import { takeOnly } from "../options.ts";
import { readFileKind } from "./file-kind.ts";
import { verifyLogFile } from "./verify-log.ts";
import { verifyLogList } from "./verify-log-list.ts";
import { verifyProofFile } from "./verify-proof.ts";
import { verifyRunFile } from "./verify-run.ts";

/** Says what a file is, whether it is what was written, and who vouches for it. */
export async function verify(file: string, options: CommandOptions, files: CommandFiles): Promise<CommandResult> {
  const found = await readFileKind(file, files);
  switch (found.kind) {
    case "log":
      takeOnly(options, ["checkpoint", "keys", "pin", "policy", "withheld", "json"], "an audit log");
      for (const name of ["keys", "pin"])
        if (options[name] !== undefined && options["checkpoint"] === undefined)
          throw new Unusable(`--${name} is about a checkpoint: name it with --checkpoint FILE.`);
      return verifyLogFile(file, found.list, options, files);
    case "logs":
      takeOnly(options, ["policy", "withheld", "json"], "a list of logs");
      return verifyLogList(found.logs, options, files);
    case "run":
      takeOnly(options, ["json"], "a recorded run");
      return verifyRunFile(file, options, files);
    case "document":
      takeOnly(options, ["keys", "pin", "log", "checkpoint", "policy", "tool", "input", "json"], "a proof");
      return verifyProofFile(found.document, options, files);
  }
}

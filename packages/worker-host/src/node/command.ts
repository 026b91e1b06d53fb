import { readArguments, takeOnly } from "./command/arguments.ts";
import { readFileKind } from "./command/file-kind.ts";
import { type CommandFiles, type CommandOptions, type CommandResult, Unusable } from "./command/io.ts";
import { lint } from "./command/lint.ts";
import { meterModule } from "./command/meter.ts";
import { verifyLogFile } from "./command/verify-log.ts";
import { verifyProofFile } from "./command/verify-proof.ts";
import { verifyRunFile } from "./command/verify-run.ts";

export type { CommandFiles, CommandResult } from "./command/io.ts";

const usage = `keyhole verify LOG [--checkpoint FILE [--keys FILE [--pin KID …]]] [--withheld] [--json]
keyhole verify PROOF [--keys FILE] [--pin KID …] [--log FILE [--checkpoint FILE]] [--policy FILE --tool FILE --input FILE] [--json]
keyhole verify RUN [--json]
keyhole lint POLICY
keyhole meter MODULE [--out FILE] [--json]

verify   says what a file is, whether it is what was written, and who vouches for it. Works offline; what was not given is not checked.
  LOG           an audit log: one event a line, a JSON list, or a page of the HTTP API. Lines are read once, in little memory, however large it is
  PROOF         a proof, a call's result with one, or the evidence that the playground saves
  RUN           a recorded run (.keyhole)
  --checkpoint  a checkpoint of the log, or a list of them: that nothing was cut or written anew since
  --withheld    take a log from which whole events were taken out, as far as their places in the chain are there
  --keys        public keys that you trust: a JSON Web Key, a list of them, or { "keys": [ … ] }. Get them from their owner, not with the file
  --pin         the thumbprint of a key that you trust. The key itself may come from anywhere: --keys, or the file
  --log         the audit log that the proof should be in
  --policy      the policy document;  --tool  the tool's package, or its manifest;  --input  the call's arguments
  --json        the report as JSON
lint     what is wrong with a policy document, at which line, and which of its rules do nothing
meter    what metering makes of a WebAssembly module, and whether it can be a tool or a command
  --out         where to write the metered module

verify ends with
  0  Verified: whole, and signed by a key that you gave or pinned
  1  Broken: it is not what was written, or no key of yours signed it
  2  Could not tell, as of a log without an event
  3  Intact, but unvouched: whole, and anybody may have made it. Keys that come with the file vouch for nothing
lint and meter end with 0 if nothing is wrong, with 1 if something is, with 2 if that could not be found out.
`;

/** The command line, without the process around it. Never rejects for what a person typed, or a file holds. */
export async function runCommand(typed: readonly string[], files: CommandFiles): Promise<CommandResult> {
  try {
    const { positionals, options } = readArguments(typed);
    if (options["help"] === true) return { exitCode: 0, output: usage };
    const [command, file, ...more] = positionals;
    const run = command === undefined || file === undefined || more.length > 0 ? undefined : commands.get(command);
    if (run === undefined || file === undefined) return { exitCode: 2, output: usage };
    return await run(file, options, files);
  } catch (error) {
    if (error instanceof Unusable) return { exitCode: 2, output: `${error.message}\n` };
    throw error;
  }
}

const commands: ReadonlyMap<
  string,
  (file: string, options: CommandOptions, files: CommandFiles) => Promise<CommandResult>
> = new Map([
  ["verify", verify],
  [
    "lint",
    async (file, options, files) => {
      takeOnly(options, [], "a policy document");
      return lint(file, files);
    },
  ],
  [
    "meter",
    async (file, options, files) => {
      takeOnly(options, ["out", "json"], "a module");
      return meterModule(file, options, files);
    },
  ],
]);

async function verify(file: string, options: CommandOptions, files: CommandFiles): Promise<CommandResult> {
  const found = await readFileKind(file, files);
  switch (found.kind) {
    case "log":
      takeOnly(options, ["checkpoint", "keys", "pin", "withheld", "json"], "an audit log");
      for (const name of ["keys", "pin"])
        if (options[name] !== undefined && options["checkpoint"] === undefined)
          throw new Unusable(`--${name} is about a checkpoint, and none is given: --checkpoint FILE.`);
      return verifyLogFile(file, found.list, options, files);
    case "run":
      takeOnly(options, ["json"], "a recorded run");
      return verifyRunFile(file, options, files);
    case "document":
      takeOnly(options, ["keys", "pin", "log", "checkpoint", "policy", "tool", "input", "json"], "a proof");
      return verifyProofFile(found.document, options, files);
  }
}

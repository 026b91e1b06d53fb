import type { CommandOptions } from "../io.ts";
import { type AddVerb, below } from "./verb.ts";

const help = `FILE is an audit log (one event a line, a JSON list, or a page of the HTTP API), the events or the evidence that the playground saves, a proof, a call's result, or a recorded run (.keyhole). Works offline. Checks only the files that you pass.

Exit codes:
  0    verified: whole, and signed by a key that you gave or pinned
  1    broken: not what was written, or no key of yours signed it
  2    cannot tell, as of a log without an event, or of a failure before a decision without its log
  3    intact, but unvouched: the author of it or of a part is unknown. Keys that come with the file vouch for nothing
`;

export const addVerify: AddVerb = (program, act) => {
  program
    .command("verify")
    .description("report the kind of a file, its verdict, and the key that vouches for it")
    .argument("<file>", "a log, a proof, a result, evidence, or a recorded run")
    .option(
      "--checkpoint <file>",
      "a checkpoint of the log, or a list: shows that no event before it was cut or rewritten",
    )
    .option(
      "--keys <file>",
      "public keys that you trust: a JSON Web Key, a list, or { keys }; from their owner, not with the file",
    )
    .option("--pin <thumbprint>", "a key that you trust; repeatable. The key may come from anywhere", collect)
    .option("--log <file>", "the audit log of the call; it vouches for the result where --checkpoint covers it")
    .option("--policy <file>", "the policy of the proof, or of the log: checks the passkeys of its approvals")
    .option("--tool <file>", "the tool's package or manifest")
    .option("--input <file>", "the call's arguments")
    .option("--withheld", "accept a redacted log whose removed events left their places")
    .option("--json", "print the report as JSON")
    .addHelpText("after", below(help))
    .action((file: string, options: CommandOptions) =>
      act(async ({ files }) => (await import("../verify/verify.ts")).verify(file, options, files)),
    );
};

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

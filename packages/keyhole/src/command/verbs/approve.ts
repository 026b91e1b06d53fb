import type { CommandOptions } from "../io.ts";
import { type AddVerb, below } from "./verb.ts";

const help = `At a terminal you are asked about each call that waits; only "yes" allows a call, once. Without a terminal the calls are listed.
A policy can demand a passkey: then a terminal can only deny.

Exit codes:
  0    listed, or each answer arrived
  1    a call did not get the answer: it waits no more, or it needs a passkey
  2    the edge does not answer, or refuses the token
`;

export const addApprove: AddVerb = (program, act) => {
  program
    .command("approve")
    .description("list the calls that wait at an edge, and answer them")
    .argument("[approval]", "the id of one approval (default: each that waits)")
    .option("--edge <url>", "the edge", "http://127.0.0.1:8787")
    .option(
      "--token <variable>",
      "the environment variable that holds a token with the scope approvals:write",
      "KEYHOLE_TOKEN",
    )
    .option("--yes", "allow this approval once, without a question")
    .option("--no", "deny this approval, without a question")
    .option("--reason <text>", "with --no: the reason, which the caller reads")
    .option("--watch", "stay, and ask about each call that comes, until Ctrl-C")
    .option("--json", "print the waiting calls, or the answer, as JSON")
    .addHelpText("after", below(help))
    .action((approval: string | undefined, options: CommandOptions) =>
      act(async (io) => (await import("../approve/approve.ts")).approve(approval, options, io)),
    );
};

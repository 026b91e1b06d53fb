import type { CommandOptions } from "../io.ts";
import { type AddVerb, below } from "./verb.ts";

const help = `A client of MCP starts this command in place of the server:
  keyhole wrap --name files -- npx -y @modelcontextprotocol/server-filesystem ./notes
  keyhole wrap --name tracker --url https://mcp.example.com/mcp

The folder ~/.keyhole/NAME holds the policy, the accepted definitions and the log. Clients that run at the same time share one log, and clients of one --caller share its connection. The first policy asks about every call but lists of prompts and resources.
`;

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export const addWrap: AddVerb = (program, act) => {
  program
    .command("wrap")
    .description("put a policy in front of an MCP server")
    .argument("[command...]", "the server's command, behind --")
    .requiredOption("--name <name>", "begins the names of the tools: lower-case letters and digits")
    .option("--url <url>", "a server over HTTP, in place of a command")
    .option("--env <variable>", "an environment variable that the server gets; again for another", collected)
    .option(
      "--header <name=variable>",
      "a header, with its value in an environment variable; again for another",
      collected,
    )
    .option("--home <folder>", "the folder of policy, pins and log (default: ~/.keyhole/NAME)")
    .option("--caller <name>", "the caller; rules and grants can name it", "client")
    .option("--shared", "one connection for all callers, to a server that keeps nothing between calls")
    .option("--session <name>", "labels and standing approvals hold within it; new: one for this start alone", "home")
    .option(
      "--fsync <when>",
      "batch: each event is on the disk before its call continues; second: a second later",
      "batch",
    )
    .option("--new-key <approver>", "make an approval key for a person, and show it once")
    .option("--new-passkey", "serve a page on which a person makes a passkey, until Ctrl-C")
    .option("--review", "show the definitions that need a review, and ask at the terminal about each")
    .option("--suggest", "print a policy that allows the tools that only read, by the server's own word")
    .addHelpText("after", below(help))
    .action((command: readonly string[], options: CommandOptions) =>
      act(async (io) => (await import("../wrap/wrap.ts")).wrap(command, options, io)),
    );
};

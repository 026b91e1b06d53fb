import type { CommandOptions } from "../io.ts";
import { type AddVerb, below, rootOption } from "./verb.ts";

const help = `A client of MCP starts this command, or reaches it over HTTP:
  keyhole serve --mcp
  keyhole serve --mcp tools --servers servers.json --policy policy.json
  keyhole serve --mcp --http 8931

The servers stand in the form of a client's configuration: {"mcpServers":{"files":{"command":"npx","args":[…]}}}. Their tools run under the same policy as your own.
The folder .keyhole holds accepted definitions, digests of approval keys, and the log. Clients that run at the same time share one log, and clients of one --caller share its connection.
`;

export const addServe: AddVerb = (program, act) => {
  program
    .command("serve")
    .description("serve tools and other servers to MCP clients, under one policy")
    .argument(
      "[paths...]",
      "files of tools, packages, or folders of them (default: tools, or those of the configuration)",
    )
    .addOption(rootOption)
    .option("--mcp", "speak MCP: over stdio, or over HTTP with --http")
    .option("--http <port>", "listen at this port of 127.0.0.1; 0 takes a free one")
    .option(
      "--token <variable>",
      "the environment variable that holds the client's token (default: a new one, shown once)",
    )
    .option("--servers <file>", "other MCP servers, as a client's configuration names them")
    .option("--config <file>", "the configuration (default: keyhole.config.* of this folder)")
    .option("--policy <file>", "the policy (default: policy.json of this folder, else no grants)")
    .option("--files <folder>", "the folder that the tools' files are in (default: memory)")
    .option("--caller <name>", "the caller; rules and grants can name it", "client")
    .option("--shared", "one connection for all callers, to a server that keeps nothing between calls")
    .option("--session <name>", "labels and standing approvals hold within it; new: one for this start alone", "home")
    .option("--log <file>", "append the audit log to this file (default: audit.jsonl in the folder of --home)")
    .option("--home <folder>", "the folder of definitions, keys and log (default: .keyhole)")
    .option("--new-key <approver>", "make an approval key for a person, and show it once")
    .option("--new-passkey", "serve a page on which a person makes a passkey, until Ctrl-C")
    .option("--review", "show the definitions that need a review, and ask at the terminal about each")
    .option("--suggest", "print a policy that allows the servers' tools that only read, by the servers' own word")
    .addHelpText("after", below(help))
    .action((paths: readonly string[], options: CommandOptions) =>
      act(async (io) => (await import("../serve/serve.ts")).serve(paths, options, io)),
    );
};

import type { CommandOptions } from "../io.ts";
import { type AddVerb, below, rootOption } from "./verb.ts";

const help = `Packs the tools, watches them and the policy, and takes calls: a tool's name and its arguments as JSON. A changed file holds from the next call on.
An empty line lists the tools. Ctrl-D ends. Without a terminal only the changes are printed.
With --edge, clients call over HTTP, and keyhole approve or the playground answers. It needs the packages @keyhole/edge and wrangler. KEYHOLE_TOKEN sets the token.
With @keyhole/mcp installed it serves MCP clients too.
`;

export const addDev: AddVerb = (program, act) => {
  program
    .command("dev")
    .description("call tools while you write them: packs, watches and asks for calls")
    .argument("[paths...]", "files of tools, packages, or folders of them (default: tools)")
    .addOption(rootOption)
    .option("--config <file>", "the configuration (default: keyhole.config.* of this folder)")
    .option("--policy <file>", "the policy (default: policy.json of this folder, else no grants)")
    .option("--files <folder>", "the folder that the tools' files are in (default: memory)")
    .option("--caller <name>", "the caller; rules and grants can name it", "terminal")
    .option("--log <file>", "append the audit log to this file")
    .option("--edge", "serve the tools over HTTP on this machine, in place of the questions")
    .option("--port <number>", "with --edge: the port of 127.0.0.1", "8787")
    .option("--page-port <number>", "with --edge: the port of 127.0.0.1 for the playground", "8788")
    .option("--built-in", "with --edge: serve the built-in tools too")
    .option("--state <folder>", "with --edge: the folder of log and files", ".keyhole/edge")
    .addHelpText("after", below(help))
    .action((paths: readonly string[], options: CommandOptions) =>
      act(async (io) => (await import("../dev/dev.ts")).dev(paths, options, io)),
    );
};

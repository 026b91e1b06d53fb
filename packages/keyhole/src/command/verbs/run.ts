import type { CommandOptions } from "../io.ts";
import { type AddVerb, below, rootOption } from "./verb.ts";

const help = `TOOL is a file, or the name of a tool in the folder of --tools: echo, echo@1.0.0.
The tool runs in an isolate, under the policy. Where the policy asks, the command asks you; without a terminal it denies.
The data goes to standard output. Standard error shows the accesses, the decision and the hash.
`;

export const addRun: AddVerb = (program, act) => {
  program
    .command("run")
    .description("call a tool under a policy")
    .argument("<tool>", "a tool's file or name")
    .option("-i, --input <json>", "the arguments: JSON, @FILE, or - for standard input", "{}")
    .option("--config <file>", "the configuration (default: keyhole.config.* of this folder)")
    .option("--policy <file>", "the policy (default: policy.json of this folder, else no grants)")
    .option("--tools <path>", "where to find tools by name, and the tools that the tool calls (default: tools)")
    .addOption(rootOption)
    .option("--files <folder>", "the folder that the tool's files are in (default: memory)")
    .option("--caller <name>", "the caller; rules and grants can name it", "terminal")
    .option("--log <file>", "append the audit log to this file")
    .option("--record <file>", "write a run that keyhole replay repeats")
    .option("--json", "print the whole result as JSON")
    .addHelpText("after", below(help))
    .action((tool: string, options: CommandOptions) =>
      act(async (io) => (await import("../run/run.ts")).run(tool, options, io)),
    );
};

export const addList: AddVerb = (program, act) => {
  program
    .command("list")
    .description("list tools and what each declares")
    .argument("[paths...]", "files of tools, packages, or folders of them (default: tools)")
    .addOption(rootOption)
    .option("--json", "print the manifests as JSON")
    .action((paths: readonly string[], options: CommandOptions) =>
      act(async (io) => (await import("../tools/list.ts")).list(paths, options, io)),
    );
};

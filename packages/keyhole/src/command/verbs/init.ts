import type { CommandOptions } from "../io.ts";
import { type AddVerb, below } from "./verb.ts";

const help = `Templates:
  node         a Node program: an approver on the terminal, a log in a file
  vite-react   a React page: the kernel in a worker, an approver in the page, a strict policy for its content
  static-html  a page without a bundler: the kernel in a worker, an approver in the page, a strict policy for its content
  worker       a Cloudflare Worker: the kernel behind HTTP, a client with an approver on the terminal
  agent        an agent on AI SDK: ten tools, a budget, an approver on the terminal, a log and a run file
  mcp          an MCP server over stdio: a page for approvals, a log in a file

Each has tools, a policy and a test. The folder has to be empty or absent.
`;

export const addInit: AddVerb = (program, act) => {
  program
    .command("init")
    .description("start a project from a template")
    .argument("<template>", "the template")
    .argument("[folder]", "where to put it (default: the name of the template)")
    .option("--packages <folder>", "a folder with the tarballs of the packages, in place of the registry")
    .option("--json", "print the written files as JSON")
    .addHelpText("after", below(help))
    .action((template: string, folder: string | undefined, options: CommandOptions) =>
      act(async (io) => (await import("../init/init.ts")).init(template, folder ?? template, options, io)),
    );
};

import type { CommandOptions } from "../io.ts";
import { type AddVerb, below, rootOption } from "./verb.ts";

const help = `A folder stands for the .ts, .js and .wasm files in it; folders in it hold what tools import.
Each package is one file of JSON: import it, and pass it to kernel.register. The same source gives the same hash everywhere.
`;

export const addPack: AddVerb = (program, act) => {
  program
    .command("pack")
    .description("pack tools: each file becomes one package with its manifest, code and hash")
    .argument("<files...>", "files of tools, or folders of them")
    .option("-o, --out <folder>", "where to write the packages", "dist")
    .option("--watch", "pack again when a file changes")
    .addOption(rootOption)
    .option("--json", "print the report as JSON")
    .addHelpText("after", below(help))
    .action((files: readonly string[], options: CommandOptions) =>
      act(async (io) => (await import("../pack/pack.ts")).pack(files, options, io)),
    );
};

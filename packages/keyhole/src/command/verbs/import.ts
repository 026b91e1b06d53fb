import type { CommandOptions } from "../io.ts";
import { type AddVerb, below } from "./verb.ts";

const help = `Reads the JSON in which clients of MCP name their servers: mcpServers, or servers.
Writes NAME.keyhole.json beside it, which wraps each server, and prints the lines that differ. The file itself stays as it is.
`;

export const addImport: AddVerb = (program, act) => {
  const group = program.command("import").description("take over a configuration of another program");
  group
    .command("mcp-config")
    .description("wrap each server of a client's configuration")
    .argument("<file>", "the configuration, as JSON")
    .option("--out <file>", "the file to write (default: NAME.keyhole.json beside it)")
    .addHelpText("after", below(help))
    .action((file: string, options: CommandOptions) =>
      act(async (io) => (await import("../wrap/import-config.ts")).importConfig(file, options, io)),
    );
};

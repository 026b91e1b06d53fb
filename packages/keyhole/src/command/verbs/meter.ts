import type { CommandOptions } from "../io.ts";
import type { AddVerb } from "./verb.ts";

export const addMeter: AddVerb = (program, act) => {
  program
    .command("meter")
    .description("report the metering of a WebAssembly module, and whether it can be a tool or a command")
    .argument("<module>", "a .wasm file")
    .option("--out <file>", "where to write the metered module")
    .option("--json", "print the report as JSON")
    .action((file: string, options: CommandOptions) =>
      act(async ({ files }) => (await import("../meter.ts")).meterModule(file, options, files)),
    );
};

import { Option } from "commander";
import type { CommandOptions } from "../io.ts";
import { type AddVerb, rootOption } from "./verb.ts";

export const addLog: AddVerb = (program, act) => {
  const log = program.command("log").description("read an audit log; keyhole verify checks it");
  log
    .command("show")
    .description("print the events of a log, one a line")
    .argument("<log>", "an audit log")
    .option("--call <id>", "only events of this call: its id, or the last characters of the id")
    .option("--type <type>", "only events of this type: tool.failed, or tool for all of tool.*")
    .option("--tool <name>", "only events of this tool and its calls")
    .option("--last <count>", "only the last events")
    .option("--json", "print each event as JSON, one a line")
    .action((file: string, options: CommandOptions) =>
      act(async (io) => (await import("../log/show.ts")).showLog(file, options, io)),
    );
  log
    .command("export")
    .description("write a log in another format")
    .argument("<log>", "an audit log")
    .addOption(new Option("--format <format>", "the format").choices(["jsonl", "csv", "cloudevents"]).default("jsonl"))
    .option("--source <uri>", "for cloudevents: the URI of the log")
    .option("-o, --out <file>", "where to write (default: standard output)")
    .action((file: string, options: CommandOptions) =>
      act(async (io) => (await import("../log/export.ts")).exportLog(file, options, io)),
    );
};

export const addDoctor: AddVerb = (program, act) => {
  program
    .command("doctor")
    .description("report the parts that this machine, or a page, lacks")
    .option("--url <url>", "look at the Content-Security-Policy of this page")
    .option("--json", "print the findings as JSON")
    .action((options: CommandOptions) => act(async (io) => (await import("../doctor.ts")).doctor(options, io)));
};

export const addReplay: AddVerb = (program, act) => {
  program
    .command("replay")
    .description("execute a recorded run again, without a network, and compare each byte")
    .argument("<run>", "a recorded run (.keyhole)")
    .option("--tools <path>", "the tools of the run (default: tools)")
    .addOption(rootOption)
    .option("--instead <file>", "a changed tool in place of the recorded tool of the same name")
    .option("--json", "print the outcome as JSON")
    .action((file: string, options: CommandOptions) =>
      act(async (io) => (await import("../replay.ts")).replayRun(file, options, io)),
    );
};

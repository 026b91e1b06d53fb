import { policy as policyOf, type ToolManifest } from "@keyhole/kernel";
import { type CommandIo, type CommandOptions, type CommandResult, counted, Unusable, visible } from "../../io.ts";
import { readEvents } from "../../log/read-events.ts";
import { optionOf } from "../../options.ts";
import { openTools } from "../../tools/find-tool.ts";
import { documentOf, type LeastPolicy, leastPolicy } from "./least-policy.ts";
import { type RecordedCalls, recordedCalls } from "./recorded-calls.ts";

/** Writes the least policy that lets all calls of a log pass that passed. */
export async function suggestPolicy(log: string, options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const calls = await recordedCalls(readEvents(log, io.files));
  const least = leastPolicy(calls, await manifestsOf(optionOf(options, "tools"), io));
  const document = documentOf(least);
  const loaded = policyOf(document);
  if (!loaded.ok)
    throw new Unusable(visible(`No grant fits a target of the log: ${loaded.error.message} ${loaded.error.hint}`));
  if (options["json"] === true) {
    const report = { policy: document, untold: least.untold, started: calls.started.length, stopped: calls.stopped };
    return { exitCode: 0, output: `${JSON.stringify(report, undefined, 2)}\n` };
  }
  return { exitCode: 0, output: textOf(least, calls) };
}

async function manifestsOf(path: string | undefined, io: CommandIo): Promise<ReadonlyMap<string, ToolManifest>> {
  if (path === undefined) return new Map();
  const { tools } = await openTools([path], io);
  return new Map(tools.map(({ package: { manifest } }) => [manifest.name, manifest]));
}

/** YAML, whose entries are JSON. */
function textOf({ posture, grants, rules, untold }: LeastPolicy, { started, stopped }: RecordedCalls): string {
  const entries = (name: string, list: LeastPolicy["grants"] | LeastPolicy["rules"]): readonly string[] =>
    list.length === 0
      ? []
      : [
          `${name}:`,
          ...list.flatMap(({ value, comment }) => [`  # ${visible(comment)}`, `  - ${visible(JSON.stringify(value))}`]),
        ];
  const lines = [
    `# The least policy for ${counted(started.length, "call")} that started. ${counted(stopped, "call")} did not start and had no part in it.`,
    ...(untold.length === 0 ? [] : ["# The log could not tell:", ...untold.map((each) => `# - ${visible(each)}`)]),
    `version: "1"`,
    `# ${posture.comment}`,
    `posture: ${posture.value}`,
    ...entries("grants", grants),
    ...entries("rules", rules),
  ];
  return `${lines.join("\n")}\n`;
}

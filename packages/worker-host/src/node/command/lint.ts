import { loadPolicy } from "@keyhole/kernel";
import { lintPolicy } from "@keyhole/kernel/policy";
import { type CommandFiles, type CommandResult, readText, visible } from "./io.ts";
import { parsePolicyText } from "../policy-text.ts";

/** What is wrong with a policy document, at which line, and which of its rules do nothing. */
export async function lint(file: string, files: CommandFiles): Promise<CommandResult> {
  const read = parsePolicyText(await readText(file, files), /\.ya?ml$/i.test(file) ? "yaml" : undefined);
  if (!read.ok) {
    const { line, column } = read.at;
    return { exitCode: 2, output: `${visible(`${file}:${line}:${column} ${read.message}`)}\n` };
  }
  const { document, locate } = read.value;
  const loaded = loadPolicy(document);
  if (!loaded.ok) {
    const { path, message, hint } = loaded.error;
    const { line, column } = locate(path);
    return { exitCode: 1, output: `${visible(`${file}:${line}:${column} ${message} ${hint}`.trimEnd())}\n` };
  }
  const findings = lintPolicy(loaded.value).map(({ kind, ruleId, message }) => {
    const index = loaded.value.rules.findIndex(({ rule }) => rule.id === ruleId);
    return visible(`${file}:${locate(`/rules/${index}`).line} ${ruleId} is ${kind}: ${message}`);
  });
  if (findings.length > 0) return { exitCode: 1, output: `${findings.join("\n")}\n` };
  const { length } = loaded.value.rules;
  return { exitCode: 0, output: `${length} rule${length === 1 ? "" : "s"}, ${loaded.value.hash}\n` };
}

import { loadPolicy } from "@keyhole/kernel";
import { lintPolicy, locate } from "@keyhole/kernel/policy";
import { type CommandFiles, type CommandResult, parse, readText, visible } from "./io.ts";

/** What is wrong with a policy document, at which line, and which of its rules do nothing. */
export async function lint(file: string, files: CommandFiles): Promise<CommandResult> {
  const text = await readText(file, files);
  const loaded = loadPolicy(parse(text, file));
  if (!loaded.ok) {
    const { path, message, hint } = loaded.error;
    const { line, column } = locate(text, path);
    return { exitCode: 1, output: `${visible(`${file}:${line}:${column} ${message} ${hint}`.trimEnd())}\n` };
  }
  const findings = lintPolicy(loaded.value).map(({ kind, ruleId, message }) => {
    const index = loaded.value.rules.findIndex(({ rule }) => rule.id === ruleId);
    return visible(`${file}:${locate(text, `/rules/${index}`).line} ${ruleId} is ${kind}: ${message}`);
  });
  if (findings.length > 0) return { exitCode: 1, output: `${findings.join("\n")}\n` };
  return { exitCode: 0, output: `${loaded.value.rules.length} rules, ${loaded.value.hash}\n` };
}

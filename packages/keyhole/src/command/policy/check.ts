import { policy } from "@keyhole/kernel";
import { lintPolicy } from "@keyhole/kernel/policy";
import { parsePolicyText } from "@keyhole/worker-host/node/policy-text";
import { type CommandFiles, type CommandOptions, type CommandResult, counted, readText, visible } from "../io.ts";

interface Finding {
  readonly line: number;
  readonly column: number;
  /** Absent where the kernel refuses the document itself. */
  readonly rule?: string;
  readonly message: string;
}

/** Says what is wrong with a policy document, at which line, and which of its rules do nothing. */
export async function checkPolicy(file: string, { json }: CommandOptions, files: CommandFiles): Promise<CommandResult> {
  const { exitCode, hash, rules, findings } = inspect(await readText(file, files), file);
  if (json === true) {
    const report = { ok: exitCode === 0, policyHash: hash ?? null, rules: rules ?? null, findings };
    return { exitCode, output: `${JSON.stringify(report, undefined, 2)}\n` };
  }
  const lines = findings.map(({ line, column, rule, message }) =>
    rule === undefined ? `${file}:${line}:${column} ${message}` : `${file}:${line} ${rule} ${message}`,
  );
  if (exitCode === 0) lines.push(`${counted(rules ?? 0, "rule")}, ${hash}`);
  return { exitCode, output: lines.map((line) => `${visible(line)}\n`).join("") };
}

interface Inspected {
  readonly exitCode: 0 | 1 | 2;
  readonly hash?: string;
  readonly rules?: number;
  readonly findings: readonly Finding[];
}

function inspect(text: string, file: string): Inspected {
  const read = parsePolicyText(text, /\.ya?ml$/i.test(file) ? "yaml" : undefined);
  if (!read.ok) return { exitCode: 2, findings: [{ ...read.at, message: read.message }] };
  const { document, locate } = read.value;
  const loaded = policy(document);
  if (!loaded.ok) {
    const { path, message, hint } = loaded.error;
    return { exitCode: 1, findings: [{ ...locate(path), message: `${message} ${hint}`.trimEnd() }] };
  }
  const { rules, hash } = loaded.value;
  const places = new Map(rules.map(({ rule }, index) => [rule.id, index]));
  const findings = lintPolicy(loaded.value).map(({ kind, ruleId, message }) => {
    return { ...locate(`/rules/${places.get(ruleId)}`), rule: ruleId, message: `is ${kind}: ${message}` };
  });
  return { exitCode: findings.length > 0 ? 1 : 0, hash, rules: rules.length, findings };
}

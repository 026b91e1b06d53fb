import { defineTool } from "@keyhole/kernel/tool";
import { readEslint, readMypy, readSarif, severities } from "./lint-report.ts";
import { chosenPaths, count, failed, outputOf, paths } from "./program.ts";

/** How each linter writes its findings to stdout, how they are read, and the exit code with which it finds something. Nothing writes to the project. */
const linters = {
  ruff: { args: ["check", "--no-fix", "--no-cache", "--output-format=sarif"], read: readSarif },
  mypy: { args: ["--output=json", "--no-error-summary", "--cache-dir=/dev/null"], read: readMypy },
  oxlint: { args: ["--format=sarif"], read: readSarif },
  eslint: { args: ["--format=json"], read: readEslint },
} as const;

/** Findings of one answer. */
const maxFindings = 500;

const place = { type: ["integer", "null"], minimum: 0 } as const;

export default defineTool({
  name: "run_linter",
  version: "1.0.0",
  title: "Run a linter",
  description:
    "Runs ruff, mypy, oxlint or eslint over the host's project, as the project configures them, and lists what they found. `paths` are relative to the project; " +
    "without paths its configuration chooses. Changes no file. The configuration of a linter can run code of the project.",
  category: "operations",
  effects: ["process.spawn"],
  determinism: "external",
  tier: 3,
  risk: "high",
  modes: ["NORMAL", "ALERT"],
  capabilities: [
    {
      kind: "process.spawn",
      commands: Object.entries(linters).map(([command, { args }]) => ({ command, args: [...args, paths] })),
    },
  ],
  bounds: { timeoutMs: 300_000, concurrency: 1 },
  input: {
    type: "object",
    properties: {
      linter: { enum: ["ruff", "mypy", "oxlint", "eslint"] },
      paths: chosenPaths,
    },
    required: ["linter"],
    additionalProperties: false,
    examples: [{ linter: "ruff", paths: ["src"] }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        isClean: { type: "boolean", description: "Whether the linter ended with 0 and found no error." },
        errors: count,
        warnings: count,
        notes: count,
        findings: {
          type: "array",
          description: "The first 500.",
          items: {
            type: "object",
            properties: {
              path: { type: "string", description: "As the linter says it. Control characters are escapes." },
              line: place,
              column: place,
              severity: { enum: severities },
              rule: { type: ["string", "null"] },
              message: { type: "string" },
            },
            required: ["path", "line", "column", "severity", "rule", "message"],
            additionalProperties: false,
          },
        },
      },
      required: ["isClean", "errors", "warnings", "notes", "findings"],
      additionalProperties: false,
    },
  },
  async execute({ linter, paths: chosen }, { spawn }) {
    const { args, read } = linters[linter];
    const output = await outputOf(spawn, linter, [...args, ...chosen]);
    // Each ends with 1 when it finds something. With more it could not look.
    if (output.exitCode > 1) throw failed(linter, output);
    const findings = read(linter, output.stdout);
    const counted = (severity: string): number => findings.filter((each) => each.severity === severity).length;
    const errors = counted("error");
    return {
      isClean: output.exitCode === 0 && errors === 0,
      errors,
      warnings: counted("warning"),
      notes: counted("note"),
      findings: findings.slice(0, maxFindings),
    };
  },
});

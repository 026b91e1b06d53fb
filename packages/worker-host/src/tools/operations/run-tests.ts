import { defineTool } from "@keyhole/kernel/tool";
import { readJunit } from "./junit.ts";
import { chosenPaths, count, failed, outputOf, paths } from "./program.ts";
import { readTap } from "./tap.ts";

/** How each runner writes its report to stdout, and how the report is read. */
const runners = {
  pytest: {
    command: "pytest",
    args: ["-p", "no:cacheprovider", "-p", "no:terminal", "--junitxml=/dev/stdout"],
    read: readJunit,
    begins: "<?xml ",
  },
  vitest: {
    command: "vitest",
    args: ["run", "--reporter=junit", "--outputFile=/dev/stdout"],
    read: readJunit,
    begins: "<?xml ",
  },
  "node:test": { command: "node", args: ["--test", "--test-reporter=junit"], read: readJunit, begins: "<?xml " },
  tap: { command: "tap", args: [], read: readTap, begins: "ok " },
} as const;

export default defineTool({
  name: "run_tests",
  version: "1.0.0",
  title: "Run tests",
  description:
    "Runs the tests of the host's project with pytest, vitest, node:test, or a program of the host that writes TAP. Says how many passed and why others failed. " +
    "`paths` are relative to the project; without paths the runner chooses. Runs code of the project.",
  category: "operations",
  effects: ["process.spawn"],
  determinism: "external",
  tier: 3,
  risk: "high",
  modes: ["NORMAL", "ALERT"],
  capabilities: [
    {
      kind: "process.spawn",
      commands: Object.values(runners).map(({ command, args }) => ({ command, args: [...args, paths] })),
    },
  ],
  bounds: { timeoutMs: 600_000, concurrency: 1 },
  input: {
    type: "object",
    properties: {
      runner: { enum: ["pytest", "vitest", "node:test", "tap"] },
      paths: chosenPaths,
    },
    required: ["runner"],
    additionalProperties: false,
    examples: [{ runner: "pytest", paths: ["tests/test_login.py"] }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        isPassed: { type: "boolean", description: "Whether the runner ended with 0 and no test failed." },
        passed: count,
        failed: count,
        skipped: count,
        failures: {
          type: "array",
          description: "The first 100.",
          items: {
            type: "object",
            properties: { name: { type: "string" }, suite: { type: "string" }, message: { type: "string" } },
            required: ["name", "suite", "message"],
            additionalProperties: false,
          },
        },
      },
      required: ["isPassed", "passed", "failed", "skipped", "failures"],
      additionalProperties: false,
    },
  },
  async execute({ runner, paths: chosen }, { spawn }) {
    const { command, args, read, begins } = runners[runner];
    const output = await outputOf(spawn, command, [...args, ...chosen]);
    if (output.exitCode !== 0 && !output.stdout.includes(begins)) throw failed(command, output);
    const { failures, ...counts } = read(command, output.stdout);
    return { isPassed: output.exitCode === 0 && counts.failed === 0, ...counts, failures: [...failures] };
  },
});

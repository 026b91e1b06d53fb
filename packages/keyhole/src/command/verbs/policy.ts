import type { CommandOptions } from "../io.ts";
import { type AddVerb, below, rootOption } from "./verb.ts";

const explainHelp = `FILE is a call's result or a proof, and the words give the reasons of the decision. Or FILE is a policy, and --tool and --input name a call: the words give the decision about that call. The tool does not run.
`;

const simulateHelp = `CALLS is a recorded run (.keyhole), or a JSON list of { tool, input, time } with caller, sessionId, mode and decision where known. A run names no caller.
The exit code is 1 where a decision changed.
`;

const diffHelp = `The comparison takes no samples. The kernel decides each example under both policies.
The exit code is 0 where the policies answer alike, 1 where they differ, 2 where a file is no policy. It is 3 where the comparison left out a part of a dimension, which the answer names.
`;

const suggestHelp = `The policy is YAML with comments. It grants the targets that the log holds, and names the gaps of the log. Keep it as policy.yaml, read it, and narrow it.
`;

const addDiff: AddVerb = (policy, act) => {
  policy
    .command("diff")
    .description("report the calls that policy B decides differently from policy A")
    .argument("<a>", "a policy document, JSON or YAML")
    .argument("<b>", "the policy that would take its place")
    .option("--tests <count>", "the most tests of a value against a clause (default: 10000000)")
    .option("--json", "print the differences as JSON")
    .addHelpText("after", below(diffHelp))
    .action((a: string, b: string, options: CommandOptions) =>
      act(async ({ files }) => (await import("../policy/diff.ts")).diffPolicyFiles(a, b, options, files)),
    );
};

const addSuggest: AddVerb = (policy, act) => {
  policy
    .command("suggest")
    .description("write the least policy that lets the calls of a log pass")
    .argument("<log>", "an audit log")
    .option("--tools <path>", "the tools of the calls: their tiers, and their optional capabilities")
    .addOption(rootOption)
    .option("--json", "print the policy, and the gaps of the log, as JSON")
    .addHelpText("after", below(suggestHelp))
    .action((log: string, options: CommandOptions) =>
      act(async (io) => (await import("../policy/suggest/suggest.ts")).suggestPolicy(log, options, io)),
    );
};

export const addPolicy: AddVerb = (program, act) => {
  const policy = program.command("policy").description("check, explain and try out a policy document");
  policy
    .command("check")
    .description("report the faults of a policy with their lines, and the rules without an effect")
    .argument("<policy>", "a policy document, JSON or YAML")
    .option("--json", "print the findings as JSON")
    .action((file: string, options: CommandOptions) =>
      act(async ({ files }) => (await import("../policy/check.ts")).checkPolicy(file, options, files)),
    );
  policy
    .command("explain")
    .description("explain the decision about a call in words")
    .argument("<file>", "a result, a proof, or a policy")
    .option("--policy <file>", "the policy of the proof, to quote its rules")
    .option("--tool <tool>", "with a policy: the tool's file or name")
    .option("-i, --input <json>", "with a policy: the arguments, as JSON, @FILE or -", "{}")
    .option("--caller <name>", "with a policy: the caller", "anonymous")
    .option("--tools <path>", "where to find tools by name (default: tools)")
    .addOption(rootOption)
    .option("--config <file>", "the configuration whose limits hold (default: keyhole.config.* of this folder)")
    .option("--json", "print the explanation as JSON")
    .addHelpText("after", below(explainHelp))
    .action((file: string, options: CommandOptions) =>
      act(async (io) => (await import("../policy/explain.ts")).explainDecision(file, options, io)),
    );
  policy
    .command("simulate")
    .description("report the decisions of a policy about recorded calls")
    .argument("<policy>", "a policy document, JSON or YAML")
    .argument("<calls>", "a recorded run, or a list of calls")
    .option("--tools <path>", "the tools of the calls (default: tools)")
    .addOption(rootOption)
    .option("--caller <name>", "the caller of calls that name none")
    .option("--json", "print the decisions as JSON")
    .addHelpText("after", below(simulateHelp))
    .action((file: string, calls: string, options: CommandOptions) =>
      act(async (io) => (await import("../policy/simulate.ts")).simulatePolicy(file, calls, options, io)),
    );
  addDiff(policy, act);
  addSuggest(policy, act);
};

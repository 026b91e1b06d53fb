import type { CommandOptions } from "../io.ts";
import type { AddVerb } from "./verb.ts";

export const addPolicy: AddVerb = (program, act) => {
  const policy = program.command("policy").description("check, explain and try out a policy document");
  policy
    .command("check")
    .description("say what is wrong with a policy, at which line, and which of its rules do nothing")
    .argument("<policy>", "a policy document, JSON or YAML")
    .option("--json", "print the findings as JSON")
    .action((file: string, options: CommandOptions) =>
      act(async ({ files }) => (await import("../policy/check.ts")).checkPolicy(file, options, files)),
    );
};

import { policy, type Policy } from "@keyhole/kernel";
import { type CallDifference, diffPolicies, type PolicyDifference } from "@keyhole/kernel/policy";
import { type CommandFiles, type CommandOptions, type CommandResult, Unusable, visible } from "../io.ts";
import { optionOf } from "../options.ts";
import { readPolicy } from "./read-policy.ts";

/** Says which calls one policy answers otherwise than another one. */
export async function diffPolicyFiles(
  a: string,
  b: string,
  options: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const difference = diffPolicies(await policyIn(a, files), await policyIn(b, files), testsOf(options));
  const exitCode = difference.capped.length > 0 ? 3 : difference.differs ? 1 : 0;
  if (options["json"] === true) return { exitCode, output: `${JSON.stringify(difference, undefined, 2)}\n` };
  return { exitCode, output: textOf(difference) };
}

async function policyIn(file: string, files: CommandFiles): Promise<Policy> {
  const loaded = policy(await readPolicy(file, files));
  if (!loaded.ok) throw new Unusable(visible(`${file}: ${loaded.error.message}`));
  return loaded.value;
}

function testsOf(options: CommandOptions): number | undefined {
  const given = optionOf(options, "tests");
  if (given === undefined) return undefined;
  if (!/^[1-9][0-9]{0,14}$/.test(given)) throw new Unusable("--tests is a whole number above 0.");
  return Number(given);
}

function textOf({ differs, allows, denies, asks, limits, capped }: PolicyDifference): string {
  const calls = (title: string, list: readonly CallDifference[]): readonly string[] =>
    list.length === 0
      ? []
      : [
          title,
          ...list.flatMap(({ sentence, example }) => [`  ${sentence}`, `    Example: ${JSON.stringify(example)}`]),
        ];
  const lines = [
    ...calls("B allows, and A does not:", allows),
    ...calls("B denies, and A does not:", denies),
    ...calls("B asks about, and A does not, or otherwise:", asks),
    ...(limits.length > 0 ? ["B limits otherwise:", ...limits.map(({ sentence }) => `  ${sentence}`)] : []),
    ...(capped.length > 0
      ? [
          "Not gone through whole, so there may be more:",
          ...capped.map(({ dimension, reason }) => `  ${dimension}: ${reason}`),
        ]
      : []),
    ...(differs || capped.length > 0 ? [] : ["Both policies answer every call alike."]),
  ];
  return lines.map((line) => `${visible(line)}\n`).join("");
}

import { blake3Hash, compilePolicy, type Hash, type PolicyVariables } from "@keyhole/kernel";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { parsePolicyText } from "@keyhole/worker-host/node/policy-text";
import {
  type CommandFiles,
  type CommandOptions,
  type CommandResult,
  isObject,
  readText,
  Unusable,
  visible,
} from "../io.ts";
import { readOption } from "../json-file.ts";

const hashes: ReadonlyMap<unknown, Hash> = new Map([
  ["blake3", blake3Hash],
  ["sha256", sha256Hash],
]);

/** Checks a policy document, and prints or writes it as kernels take it that do not check documents. */
export async function compilePolicyFile(
  file: string,
  options: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const hash = hashes.get(options.hash);
  if (!hash) throw new Unusable(`--hash is ${[...hashes.keys()].join(" or ")}.`);
  const variables = variablesOf(await readOption("variables", options, files));
  const read = parsePolicyText(await readText(file, files), /\.ya?ml$/i.test(file) ? "yaml" : undefined);
  if (!read.ok) return refused(`${file}:${read.at.line}:${read.at.column} ${read.message}`);
  const { document, locate } = read.value;
  const compiled = compilePolicy(document, variables, hash);
  if (!compiled.ok) {
    const { path, message, hint } = compiled.error;
    const { line, column } = locate(path);
    return refused(`${file}:${line}:${column} ${message} ${hint}`.trimEnd());
  }
  const text = `${JSON.stringify(compiled.value)}\n`;
  if (typeof options.out !== "string") return { exitCode: 0, output: text };
  await files.write(options.out, new TextEncoder().encode(text));
  return { exitCode: 0, output: visible(`wrote ${options.out}, ${compiled.value.digest}`) + "\n" };
}

const refused = (message: string): CommandResult => ({
  exitCode: 1,
  output: "",
  errorOutput: `${visible(message)}\n`,
});

function variablesOf(value: unknown = {}): PolicyVariables {
  if (!isObject(value)) throw new Unusable("--variables is not a JSON object of texts.");
  const texts = Object.entries(value).flatMap(([name, each]) =>
    typeof each === "string" ? [[name, each] as const] : [],
  );
  if (texts.length < Object.keys(value).length) throw new Unusable("--variables has a value that is no text.");
  return Object.fromEntries(texts);
}

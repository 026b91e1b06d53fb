import { isJsonObject, policy as policyOf, type Proof } from "@keyhole/kernel";
import { explain, isProof } from "@keyhole/kernel/policy";
import { hashOf } from "@keyhole/kernel/audit";
import { type CommandIo, type CommandOptions, type CommandResult, readText, Unusable, visible } from "../io.ts";
import { chooseConfig } from "../config.ts";
import { parse } from "../json-file.ts";
import { readInput } from "../json-input.ts";
import { optionOf } from "../options.ts";
import { openKernel } from "../run/open-kernel.ts";
import { findTool } from "../tools/find-tool.ts";

/**
 * Says in words why a call was decided as it was: of a result or a proof; or, of a policy with a tool, how a call would be decided. The verb runs and verifies nothing.
 */
export async function explainDecision(file: string, options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  if (typeof options["tool"] === "string") return foresee(file, options["tool"], options, io);
  const document = parse(await readText(file, io.files), file);
  if (isJsonObject(document) && "posture" in document)
    throw new Unusable("This is a policy. Name a call: --tool TOOL --input JSON.");
  const proof = isJsonObject(document) && "proof" in document ? document["proof"] : document;
  if (!isProof(proof)) throw new Unusable(`${visible(file)} has no proof: expected a call's result, or a proof.`);
  const named = options["policy"];
  const policy = typeof named === "string" ? parse(await readText(named, io.files), named) : undefined;
  const loaded = policy === undefined ? undefined : policyOf(policy, { hash: hashOf(proof.policyHash) });
  const { summary, facts, toChange } = explain(proof, loaded?.ok ? loaded.value : undefined);
  if (options["json"] === true)
    return {
      exitCode: 0,
      output: `${JSON.stringify({ decision: proof.decision, summary, facts, toChange }, undefined, 2)}\n`,
    };
  return { exitCode: 0, output: linesOf(summary, facts, toChange) };
}

async function foresee(file: string, tool: string, options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const input = await readInput(options["input"], io);
  const found = await findTool(tool, optionOf(options, "tools"), io);
  const { name, version } = found.package.manifest;
  const config = await chooseConfig(options, io);
  const { kernel, close } = await openKernel(found.packages, { policy: file }, io, config, "limits");
  try {
    const preview = await kernel.preview(name, input, { version, caller: optionOf(options, "caller") ?? "anonymous" });
    if (options["json"] === true) return { exitCode: 0, output: `${JSON.stringify(preview, undefined, 2)}\n` };
    // The command explains no ids, which only a call has.
    const explained = preview.proof === undefined ? undefined : explain(preview.proof as Proof);
    const error =
      preview.decision === "deny"
        ? [`${preview.error.code}: ${preview.error.message}`, preview.error.operatorHint]
        : [];
    const facts = [...error.filter((text) => text !== ""), ...(explained?.facts ?? [])];
    const summary = `${preview.decision}: ${explained?.summary ?? preview.tool}`;
    return { exitCode: 0, output: linesOf(summary, facts, explained?.toChange ?? []) };
  } finally {
    await close();
  }
}

function linesOf(summary: string, facts: readonly string[], toChange: readonly string[]): string {
  const lines = [
    summary,
    ...facts.map((fact) => `  ${fact}`),
    ...toChange.map((each) => `  For another answer: ${each}`),
  ];
  return lines.map((line) => `${visible(line)}\n`).join("");
}

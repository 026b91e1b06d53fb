import { type AuditEvent, type JsonValue, loadPolicy, type Proof, type ToolManifest } from "@keyhole/kernel";
import { explain, isProof, type ProofEvidence, verifyProof } from "@keyhole/kernel/policy";
import {
  type CommandFiles,
  type CommandOptions,
  type CommandResult,
  isObject,
  marks,
  parse,
  readKeys,
  readOption,
  readText,
  Unusable,
  visible,
} from "./io.ts";

/** A proof, or a call's result that has one, against all evidence that was given. */
export async function verifyProofFile(
  document: JsonValue,
  options: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const candidate = isObject(document) && isObject(document["proof"]) ? document["proof"] : document;
  const read = (name: string): Promise<JsonValue | undefined> => readOption(name, options, files);
  const keys = await read("keys");
  const log = typeof options["log"] === "string" ? await readLog(options["log"], files) : undefined;
  const [policy, tool, input] = [await read("policy"), await read("tool"), await read("input")];
  const evidence: ProofEvidence = {
    ...(keys !== undefined && { keys: readKeys(keys) }),
    ...(log && { events: log as unknown as readonly AuditEvent[] }),
    ...(policy !== undefined && { policy }),
    ...(tool !== undefined && { tool: readTool(tool) }),
    ...(input !== undefined && { input }),
  };
  const report = await verifyProof(candidate, evidence);
  const exitCode = report.ok ? 0 : 1;
  if (options["json"] === true) return { exitCode, output: `${JSON.stringify(report, undefined, 2)}\n` };
  const lines = report.steps.map(({ level, name, outcome, reason }) =>
    `${marks[outcome]} level ${level}  ${name.padEnd(13)}  ${reason}`.trimEnd(),
  );
  const words = report.ok && isProof(candidate) ? inWords(candidate, policy) : [];
  return { exitCode, output: `${[...lines, ...words].map(visible).join("\n")}\n` };
}

function inWords(proof: Proof, document: JsonValue | undefined): readonly string[] {
  const loaded = document === undefined ? undefined : loadPolicy(document);
  const { summary, facts, toChange } = explain(proof, loaded?.ok ? loaded.value : undefined);
  return [
    "",
    summary,
    ...facts.map((fact) => `  ${fact}`),
    ...toChange.map((change) => `  For another answer: ${change}`),
  ];
}

async function readLog(path: string, files: CommandFiles): Promise<readonly JsonValue[]> {
  const text = await readText(path, files);
  if (text.trimStart().startsWith("[")) return parse(text, path) as readonly JsonValue[];
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => parse(line, path));
}

function readTool(value: JsonValue): { readonly manifest: ToolManifest; readonly code?: string } {
  if (!isObject(value)) throw new Unusable("A tool is a package, or a manifest.");
  const { manifest, code } = value;
  if (!isObject(manifest)) return { manifest: value as unknown as ToolManifest };
  return { manifest: manifest as unknown as ToolManifest, ...(typeof code === "string" && { code }) };
}

import { isJsonObject, type JsonObject, type JsonValue, policy as policyOf, type Proof } from "@keyhole/kernel";
import { hashOf, verdictLine } from "@keyhole/kernel/audit";
import { explain, readEvidence, stepText, verifyEvidence } from "@keyhole/kernel/policy";
import { readFileKind } from "./file-kind.ts";
import {
  type CommandFiles,
  type CommandOptions,
  type CommandResult,
  exitCodes,
  marks,
  readText,
  Unusable,
  visible,
} from "../io.ts";
import { parse, readOption } from "../json-file.ts";
import { readTrust } from "./trust.ts";

/** A proof, a call's result, or evidence in one file, against everything that was given. */
export async function verifyProofFile(
  document: JsonValue,
  options: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const read = (name: string): Promise<JsonValue | undefined> => readOption(name, options, files);
  const events = typeof options["log"] === "string" ? await readLog(options["log"], files) : undefined;
  const checkpoint = await read("checkpoint");
  const checkpoints = checkpoint === undefined || Array.isArray(checkpoint) ? checkpoint : [checkpoint];
  const named = {
    events,
    checkpoints,
    policy: await read("policy"),
    tool: await read("tool"),
    input: await read("input"),
  };
  const aside = asideOf(document);
  if (aside !== undefined) throw new Unusable(aside);
  const gathered = readEvidence(document, withoutAbsent(named));
  if (!gathered.ok) throw new Unusable(gathered.message);
  const { evidence } = gathered.value;
  if (checkpoint !== undefined && !evidence.events)
    throw new Unusable("--checkpoint is one of a log: name the log with --log FILE.");
  const trusted = await readTrust(options, files, evidence.enclosedKeys);
  const report = await verifyEvidence(gathered.value, trusted);
  const exitCode = exitCodes[report.verdict];
  if (options["json"] === true) return { exitCode, output: `${JSON.stringify(report, undefined, 2)}\n` };
  const lines = report.steps.map((step) =>
    `${marks[step.outcome]} level ${step.level}  ${step.name.padEnd(13)}  ${stepText(step)}`.trimEnd(),
  );
  const claimed = "claimed" in report ? report.claimed : undefined;
  const proof = "proof" in report ? report.proof : claimed;
  const words = proof === undefined ? [] : inWords(proof, proof === claimed, evidence.policy);
  return { exitCode, output: `${[...lines, verdictLine(report), ...words].map(visible).join("\n")}\n` };
}

function withoutAbsent(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** Recognizes a file that belongs beside a log or a proof, such as a checkpoint: as a proof it would be a broken one. */
function asideOf(document: JsonValue): string | undefined {
  if (!isJsonObject(document) || ["proof", "proofId", "ok"].some((member) => member in document)) return undefined;
  if ("root" in document && "size" in document)
    return "This is a checkpoint. Verify the log that it is of: keyhole verify LOG --checkpoint FILE.";
  if ("kty" in document || "keys" in document)
    return "These are keys. Verify the signed file: keyhole verify LOG --checkpoint FILE --keys FILE, or keyhole verify PROOF --keys FILE.";
  if ("manifest" in document && "code" in document) return "This is a tool's package: it goes with a proof, as --tool.";
  if ("posture" in document)
    return "This is a policy: it goes with a proof, as --policy. To check the policy, run keyhole policy check.";
  return undefined;
}

function inWords(proof: Proof, isClaim: boolean, document: unknown): readonly string[] {
  const loaded = document === undefined ? undefined : policyOf(document, { hash: hashOf(proof.policyHash) });
  const { summary, facts, toChange } = explain(proof, loaded?.ok ? loaded.value : undefined);
  return [
    "",
    isClaim ? `Claimed: ${summary}` : summary,
    ...facts.map((fact) => `  ${fact}`),
    ...toChange.map((change) => `  For another answer: ${change}`),
  ];
}

async function readLog(path: string, files: CommandFiles): Promise<readonly JsonValue[]> {
  const found = await readFileKind(path, files);
  if (found.kind === "log" && found.list) return found.list;
  if (found.kind === "logs") throw new Unusable(`${path} has ${found.logs.length} logs. --log takes one.`);
  const text = await readText(path, files);
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => parse(line, path));
}

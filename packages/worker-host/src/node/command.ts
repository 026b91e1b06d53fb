import {
  type AuditEvent,
  type JsonObject,
  type JsonValue,
  loadPolicy,
  type Proof,
  type ToolManifest,
} from "@keyhole/kernel";
import {
  explain,
  isProof,
  lintPolicy,
  locate,
  type ProofEvidence,
  type ProofPublicKey,
  verifyProof,
} from "@keyhole/kernel/policy";

const usage = `keyhole verify FILE [--keys FILE] [--log FILE] [--policy FILE --tool FILE --input FILE] [--json]
keyhole lint FILE

verify   FILE holds a proof, or a call's result with one. Works offline; what was not given is not checked.
  --keys    public keys: a JSON Web Key, a list of them, or { "keys": [ … ] }
  --log     the audit log: a JSON list of events, or one event a line
  --policy  the policy document;  --tool  the tool's package, or its manifest;  --input  the call's arguments
  --json    the report as JSON
lint     FILE holds a policy document: what is wrong with it, at which line, and which of its rules do nothing

Ends with 0 if nothing is wrong, with 1 if something is, with 2 if that could not be found out.
`;

export interface CommandResult {
  readonly exitCode: 0 | 1 | 2;
  readonly output: string;
}

type Options = Readonly<Record<string, unknown>>;
type ReadText = (path: string) => Promise<string>;

/** What a person has to put right before anything can be checked. */
class Unusable extends Error {}

/** The command line, without the process around it. Never rejects for what a file holds. */
export async function runCommand(
  positionals: readonly string[],
  options: Options,
  readText: ReadText,
): Promise<CommandResult> {
  const [command, file, ...more] = positionals;
  if (options["help"] === true) return { exitCode: 0, output: usage };
  if (file === undefined || more.length > 0 || (command !== "verify" && command !== "lint"))
    return { exitCode: 2, output: usage };
  try {
    return await (command === "verify" ? verify(file, options, readText) : lint(file, readText));
  } catch (error) {
    if (error instanceof Unusable) return { exitCode: 2, output: `${error.message}\n` };
    throw error;
  }
}

async function verify(file: string, options: Options, readText: ReadText): Promise<CommandResult> {
  const read = async (name: string): Promise<JsonValue | undefined> => {
    const path = options[name];
    return typeof path === "string" ? readJson(path, readText) : undefined;
  };
  const foreign = await readJson(file, readText);
  const candidate = isObject(foreign) && isObject(foreign["proof"]) ? foreign["proof"] : foreign;
  const keys = await read("keys");
  const log = typeof options["log"] === "string" ? await readLog(options["log"], readText) : undefined;
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

const marks = { passed: "✓", failed: "✗", skipped: "–" } as const;

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

async function lint(file: string, readText: ReadText): Promise<CommandResult> {
  const text = await read(file, readText);
  const loaded = loadPolicy(parse(text, file));
  if (!loaded.ok) {
    const { path, message, hint } = loaded.error;
    const { line, column } = locate(text, path);
    return { exitCode: 1, output: `${visible(`${file}:${line}:${column} ${message} ${hint}`.trimEnd())}\n` };
  }
  const findings = lintPolicy(loaded.value).map(({ kind, ruleId, message }) => {
    const index = loaded.value.rules.findIndex(({ rule }) => rule.id === ruleId);
    return visible(`${file}:${locate(text, `/rules/${index}`).line} ${ruleId} is ${kind}: ${message}`);
  });
  if (findings.length > 0) return { exitCode: 1, output: `${findings.join("\n")}\n` };
  return { exitCode: 0, output: `${loaded.value.rules.length} rules, ${loaded.value.hash}\n` };
}

/** What a file says cannot steer a terminal, nor reorder what stands beside it. */
function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (character) =>
    character === "\n" && text === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function read(path: string, readText: ReadText): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new Unusable(
      `${visible(path)} cannot be read: ${error instanceof Error ? visible(error.message) : "it failed"}`,
      { cause: error },
    );
  }
}

function parse(text: string, path: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new Unusable(`${visible(path)} is not JSON: ${error instanceof Error ? visible(error.message) : ""}`, {
      cause: error,
    });
  }
}

async function readJson(path: string, readText: ReadText): Promise<JsonValue> {
  return parse(await read(path, readText), path);
}

async function readLog(path: string, readText: ReadText): Promise<readonly JsonValue[]> {
  const text = await read(path, readText);
  if (text.trimStart().startsWith("[")) return parse(text, path) as readonly JsonValue[];
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => parse(line, path));
}

function readKeys(value: JsonValue): readonly ProofPublicKey[] {
  const list = Array.isArray(value)
    ? (value as readonly JsonValue[])
    : isObject(value) && Array.isArray(value["keys"])
      ? (value["keys"] as readonly JsonValue[])
      : [value];
  return list.map((key) => {
    if (!isObject(key) || key["kty"] !== "OKP" || key["crv"] !== "Ed25519" || typeof key["x"] !== "string")
      throw new Unusable("A key is a JSON Web Key of kty OKP and crv Ed25519.");
    return { kty: "OKP", crv: "Ed25519", x: key["x"] };
  });
}

function readTool(value: JsonValue): { readonly manifest: ToolManifest; readonly code?: string } {
  if (!isObject(value)) throw new Unusable("A tool is a package, or a manifest.");
  const { manifest, code } = value;
  if (!isObject(manifest)) return { manifest: value as unknown as ToolManifest };
  return { manifest: manifest as unknown as ToolManifest, ...(typeof code === "string" && { code }) };
}
